#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "text.h"

bool system_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC) == 0; }
int system_socket(int domain) { return socket(domain, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }
int system_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }
bool system_pair(int ends[2]) { return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0; }
bool system_replace(int from, int to) { return dup3(from, to, O_CLOEXEC) >= 0; }

ssize_t system_receive(int fd, void *message, size_t size, int flags, int passed[2], int *count) {
	struct iovec part = {.iov_base = message, .iov_len = size};
	union { struct cmsghdr header; char room[CMSG_SPACE(2 * sizeof(int))]; } control = {0};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
	*count = 0;
	ssize_t n;
	do n = recvmsg(fd, &header, flags | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	struct cmsghdr *c = n >= 0 ? CMSG_FIRSTHDR(&header) : NULL;
	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) return n;
	*count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
	memcpy(passed, CMSG_DATA(c), (size_t)*count * sizeof(int));
	return n;
}

// A longer path goes by way of its folder's descriptor.
static bool unix_address(const char *path, struct sockaddr_un *address, int *folder) {
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	*folder = -1;
	if (strlen(path) < sizeof address->sun_path) {
		strcpy(address->sun_path, path);
		return true;
	}
	char parent[4096];
	const char *slash = strrchr(path, '/');
	if ((size_t)(slash - path) >= sizeof parent) return false;
	memcpy(parent, path, (size_t)(slash - path));
	parent[slash - path] = 0;
	*folder = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return *folder >= 0 && snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/%s", *folder, slash + 1) < (int)sizeof address->sun_path;
}

int system_connect_unix(const char *path) {
	struct sockaddr_un address;
	int folder, fd = system_socket(AF_UNIX);
	bool connected = fd >= 0 && unix_address(path, &address, &folder);
	if (connected) connected = connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
	if (fd >= 0 && folder >= 0) close(folder);
	if (connected) return fd;
	if (fd >= 0) close(fd);
	return -1;
}

void system_close_from(int first) {
#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, ~0U, 0U) == 0) return;
#endif
	long most = sysconf(_SC_OPEN_MAX);
	for (int fd = first; fd < most; fd++) close(fd);
}

void system_close_on_exec_from(int first) {
#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */) == 0) return;
#endif
	long most = sysconf(_SC_OPEN_MAX);
	for (int fd = first; fd < most; fd++) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

int system_signals(const sigset_t *mask) {
	sigprocmask(SIG_BLOCK, mask, NULL);
	return signalfd(-1, mask, SFD_NONBLOCK | SFD_CLOEXEC);
}

bool system_next_signal(int fd, int *number) {
	struct signalfd_siginfo info;
	ssize_t n;
	do n = read(fd, &info, sizeof info);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof info) return false;
	*number = (int)info.ssi_signo;
	return true;
}

bool system_boot_id(char boot_id[40]) {
	size_t size = 0;
	char *text = read_file(AT_FDCWD, "/proc/sys/kernel/random/boot_id", 64, &size);
	if (!text) return false;
	text[strcspn(text, "\n")] = 0;
	snprintf(boot_id, 40, "%.36s", text);
	free(text);
	return true;
}

uint64_t start_ticks_of(int pid) {
	char path[48];
	size_t size = 0;
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	char *stat = read_file(AT_FDCWD, path, 8192, &size);
	if (!stat) return 0;
	char *at = strrchr(stat, ')'); // the name before it may hold anything
	uint64_t ticks = 0;
	if (at && at[1] == ' ' && at[2] != 'Z' && at[2] != 'X') {
		at += 2;
		for (int field = 3; at && field < 22; field++) at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL;
		if (at) ticks = strtoull(at, NULL, 10);
	}
	free(stat);
	return ticks;
}

// Between looking and sending, its number could have gone to another one: a descriptor of the process keeps it.
void system_kill(int pid, uint64_t start_ticks) {
#ifdef SYS_pidfd_open
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd >= 0) {
		if (start_ticks_of(pid) == start_ticks) syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
		close(fd);
		return;
	}
#endif
	if (start_ticks_of(pid) == start_ticks) kill(pid, SIGKILL);
}

int system_peer(int fd) {
	struct ucred peer;
	socklen_t size = sizeof peer;
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : -1;
}

bool system_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0; }
bool system_die_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0; }
bool system_hide_memory(void) { return prctl(PR_SET_DUMPABLE, 0) == 0; }

pid_t system_wait(int *status, struct rusage *usage) {
	pid_t pid;
	do pid = wait4(-1, status, WNOHANG, usage);
	while (pid < 0 && errno == EINTR);
	return pid;
}

bool system_reserve(int fd, uint64_t size) {
	int failure = posix_fallocate(fd, 0, (off_t)size);
	errno = failure;
	return failure != ENOSPC && failure != EDQUOT;
}

bool system_punch(int fd, uint64_t from, uint64_t until) {
	return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(until - from)) == 0;
}

void system_wipe(void *bytes, size_t size) { explicit_bzero(bytes, size); }
