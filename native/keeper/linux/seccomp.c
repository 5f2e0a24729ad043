// The system call filter: sockets that could leave the run, and calls that reach into other processes or the kernel.
// It allows by default: agents, compilers and runtimes must work; the list names what none of them needs.
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "confine.h"

// From linux/seccomp.h, which is not on every compiler's path.
struct seccomp_call {
	int32_t number;
	uint32_t arch;
	uint64_t instruction, args[6];
};
enum { MODE_FILTER = 2 };
#define RETURN_KILL 0x80000000u
#define RETURN_ALLOW 0x7fff0000u
#define RETURN_ERROR(error) (0x00050000u | (uint32_t)(error))

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#else
#error "no filter for this architecture"
#endif

enum { X32_BIT = 0x40000000, FASTOPEN = 0x20000000, SOCKET_TYPE_MASK = 0xf, TCP = 6, UDP = 17, TCP_FAST_OPEN = 23, TCP_FAST_OPEN_CONNECT = 30, PUSH_INPUT = 0x5412, LINUX_CONSOLE = 0x541c };
#define NEW_NAMESPACES 0x7e020080u // every CLONE_NEW…, NEWTIME too
#define NEW_NAMESPACES_CLONE 0x7e020000u // clone(): the low byte is the exit signal

enum { MAX_FILTER = 512 };
struct filter {
	struct sock_filter code[MAX_FILTER];
	unsigned short size;
};

static void put(struct filter *f, uint16_t code, uint8_t yes, uint8_t no, uint32_t value) {
	if (f->size < MAX_FILTER) f->code[f->size] = (struct sock_filter){.code = code, .jt = yes, .jf = no, .k = value};
	f->size++;
}
static void load(struct filter *f, uint32_t offset) { put(f, BPF_LD | BPF_W | BPF_ABS, 0, 0, offset); }
static void load_number(struct filter *f) { load(f, offsetof(struct seccomp_call, number)); }
// The lower half of an argument; both architectures here are little endian. The kernel reads these arguments as int.
static void load_arg(struct filter *f, int index) { load(f, (uint32_t)(offsetof(struct seccomp_call, args) + 8u * (unsigned)index)); }
static void mask(struct filter *f, uint32_t bits) { put(f, BPF_ALU | BPF_AND | BPF_K, 0, 0, bits); }
static void answer(struct filter *f, uint32_t value) { put(f, BPF_RET | BPF_K, 0, 0, value); }
static void answer_if(struct filter *f, uint32_t value, uint32_t then) {
	put(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value);
	answer(f, then);
}
static void answer_if_any(struct filter *f, uint32_t bits, uint32_t then) {
	put(f, BPF_JMP | BPF_JSET | BPF_K, 0, 1, bits);
	answer(f, then);
}

// The part between begin and end runs for one call number only; it starts with the number loaded and ends in an answer.
static unsigned short begin_call(struct filter *f, long number) {
	put(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, (uint32_t)number);
	return f->size;
}
static void end_call(struct filter *f, unsigned short start, uint32_t otherwise) {
	answer(f, otherwise);
	if (start <= MAX_FILTER) f->code[start - 1].jf = (uint8_t)(f->size - start);
}

static void put_refused(struct filter *f, bool own_ipc) {
	static const int refused[] = {
		SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, 438 /* pidfd_getfd */, 440 /* process_madvise */,
		SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_setns, 428 /* open_tree */, 429 /* move_mount */, 430 /* fsopen */, 431 /* fsconfig */, 432 /* fsmount */,
		433 /* fspick */, 442 /* mount_setattr */, 467 /* open_tree_attr */, SYS_keyctl, SYS_add_key, SYS_request_key, SYS_bpf, SYS_perf_event_open, SYS_kexec_load, 
		SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_swapon, SYS_swapoff, SYS_reboot, SYS_acct, SYS_quotactl, 443 /* quotactl_fd */, SYS_syslog,
		SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime, SYS_sethostname, SYS_setdomainname, SYS_vhangup, SYS_userfaultfd, SYS_open_by_handle_at,
		SYS_fanotify_init, SYS_nfsservctl, SYS_lookup_dcookie,
#if defined(__x86_64__)
		SYS_kexec_file_load, SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_uselib, SYS_create_module, SYS_get_kernel_syms, SYS_query_module, SYS__sysctl,
#else
		294 /* kexec_file_load */,
#endif
	};
	static const int shared_ipc[] = {SYS_shmget, SYS_shmat, SYS_shmctl, SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_semget, SYS_semop, SYS_semctl, SYS_semtimedop, SYS_mq_open, SYS_mq_unlink};
	static const int absent[] = {425, 426, 427 /* io_uring */, 435 /* clone3: its flags lie in memory; libraries fall back to clone */};
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) answer_if(f, (uint32_t)refused[i], RETURN_ERROR(EPERM));
	for (size_t i = 0; !own_ipc && i < sizeof shared_ipc / sizeof *shared_ipc; i++) answer_if(f, (uint32_t)shared_ipc[i], RETURN_ERROR(EPERM));
	for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) answer_if(f, (uint32_t)absent[i], RETURN_ERROR(ENOSYS));
}

// Inside a socket() part: one internet family. Without `datagrams` only TCP proper: MPTCP and UDP pass Landlock's port rules by.
static void put_internet(struct filter *f, uint32_t family, bool datagrams) {
	load_arg(f, 0);
	put(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, family);
	unsigned short start = f->size;
	load_arg(f, 1);
	mask(f, SOCKET_TYPE_MASK);
	put(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 3, SOCK_STREAM);
	load_arg(f, 2);
	answer_if(f, 0, RETURN_ALLOW);
	answer_if(f, TCP, RETURN_ALLOW);
	f->code[start + 2].jf = (uint8_t)(f->size - start - 3);
	if (datagrams) {
		load_arg(f, 1);
		mask(f, SOCKET_TYPE_MASK);
		put(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 5, SOCK_DGRAM);
		load_arg(f, 2);
		answer_if(f, 0, RETURN_ALLOW);
		answer_if(f, UDP, RETURN_ALLOW);
	}
	end_call(f, start, RETURN_ERROR(EACCES));
}

static void put_sockets(struct filter *f, const struct spec *spec) {
	unsigned short start = begin_call(f, SYS_socket);
	load_arg(f, 0);
	if (spec->unix_sockets) answer_if(f, AF_UNIX, RETURN_ALLOW);
	put_internet(f, AF_INET, !spec->network_none);
	put_internet(f, AF_INET6, !spec->network_none);
	load_arg(f, 0);
	put(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 3, AF_NETLINK); // getaddrinfo and getifaddrs ask the routing family
	load_arg(f, 2);
	answer_if(f, 0, RETURN_ALLOW);
	end_call(f, start, RETURN_ERROR(EACCES));
	load_number(f);
	if (!spec->unix_sockets) {
		// A datagram half of a pair can still send to any named socket; a connected stream half cannot.
		start = begin_call(f, SYS_socketpair);
		load_arg(f, 1);
		mask(f, SOCKET_TYPE_MASK);
		answer_if(f, SOCK_STREAM, RETURN_ALLOW);
		answer_if(f, SOCK_SEQPACKET, RETURN_ALLOW);
		end_call(f, start, RETURN_ERROR(EACCES));
		load_number(f);
	}
}

static void put_fast_open(struct filter *f) {
	static const struct { int number, flags_arg; } sends[] = {{SYS_sendto, 3}, {SYS_sendmsg, 2}, {SYS_sendmmsg, 3}};
	for (size_t i = 0; i < sizeof sends / sizeof *sends; i++) {
		unsigned short start = begin_call(f, sends[i].number);
		load_arg(f, sends[i].flags_arg);
		answer_if_any(f, FASTOPEN, RETURN_ERROR(EOPNOTSUPP));
		end_call(f, start, RETURN_ALLOW);
	}
	unsigned short start = begin_call(f, SYS_setsockopt);
	load_arg(f, 1);
	put(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 5, TCP);
	load_arg(f, 2);
	answer_if(f, TCP_FAST_OPEN, RETURN_ERROR(EOPNOTSUPP));
	answer_if(f, TCP_FAST_OPEN_CONNECT, RETURN_ERROR(EOPNOTSUPP));
	end_call(f, start, RETURN_ALLOW);
}

static void put_namespaces_and_terminals(struct filter *f) {
	unsigned short start = begin_call(f, SYS_clone);
	load_arg(f, 0);
	answer_if_any(f, NEW_NAMESPACES_CLONE, RETURN_ERROR(EPERM));
	end_call(f, start, RETURN_ALLOW);
	start = begin_call(f, SYS_unshare);
	load_arg(f, 0);
	answer_if_any(f, NEW_NAMESPACES, RETURN_ERROR(EPERM));
	end_call(f, start, RETURN_ALLOW);
	start = begin_call(f, SYS_ioctl);
	load_arg(f, 1);
	answer_if(f, PUSH_INPUT, RETURN_ERROR(EPERM));
	answer_if(f, LINUX_CONSOLE, RETURN_ERROR(EPERM));
	end_call(f, start, RETURN_ALLOW);
}

bool seccomp_restrict(const struct spec *spec, bool own_ipc) {
	struct filter f = {.size = 0};
	load(&f, offsetof(struct seccomp_call, arch));
	put(&f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, OWN_ARCH);
	answer(&f, RETURN_KILL);
	load_number(&f);
#if defined(__x86_64__)
	put(&f, BPF_JMP | BPF_JGE | BPF_K, 0, 1, X32_BIT);
	answer(&f, RETURN_ERROR(ENOSYS));
#endif
	put_refused(&f, own_ipc);
	put_namespaces_and_terminals(&f);
	put_fast_open(&f);
	put_sockets(&f, spec);
	answer(&f, RETURN_ALLOW);
	if (f.size > MAX_FILTER) {
		errno = E2BIG;
		return false;
	}
	struct sock_fprog program = {.len = f.size, .filter = f.code};
	return prctl(PR_SET_SECCOMP, MODE_FILTER, &program, 0, 0) == 0;
}
