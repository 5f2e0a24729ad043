// Attempts to get out of a run; one line each: "<name> allowed|denied <errno>". Needs nothing but its arguments:
//   escape SECRET_FILE FOREIGN_PID DOCKER_LIKE_SOCKET OTHER_PORT ABSTRACT_NAME WRITABLE_DIR
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

static void told(const char *name, int worked) {
	printf("%s %s %d\n", name, worked ? "allowed" : "denied", worked ? 0 : errno);
	fflush(stdout);
}

static int can_read(const char *path) {
	char bytes[16];
	int fd = open(path, O_RDONLY);
	if (fd < 0) return 0;
	ssize_t n = read(fd, bytes, sizeof bytes);
	int failure = n == 0 ? ENODATA : errno;
	close(fd);
	errno = failure;
	return n > 0;
}

static void files(const char *secret, const char *writable) {
	char path[512], inside[512];
	told("secret-read", can_read(secret));
	snprintf(inside, sizeof inside, "%s/link", writable);
	unlink(inside);
	told("secret-by-symlink", symlink(secret, inside) == 0 && can_read(inside));
	unlink(inside);
	told("secret-hardlink", link(secret, inside) == 0);
	told("secret-append", open(secret, O_WRONLY | O_APPEND) >= 0);
	told("secret-truncate", truncate(secret, 0) == 0);
	told("secret-chmod", chmod(secret, 0644) == 0);
	told("secret-utime", utimensat(AT_FDCWD, secret, NULL, 0) == 0);
	told("secret-chown", chown(secret, getuid(), getgid()) == 0);
	told("secret-setxattr", setxattr(secret, "user.x", "1", 1, 0) == 0);
	told("secret-unlink", unlink(secret) == 0);
	snprintf(path, sizeof path, "%s.new", secret);
	told("outside-create", open(path, O_CREAT | O_WRONLY, 0600) >= 0);
	snprintf(path, sizeof path, "%s.dir", secret);
	told("outside-mkdir", mkdir(path, 0700) == 0);
	snprintf(path, sizeof path, "%s/git/hooks/x", writable);
	told("readonly-write", open(path, O_CREAT | O_WRONLY, 0700) >= 0);
	snprintf(path, sizeof path, "%s/git", writable);
	snprintf(inside, sizeof inside, "%s/git2", writable);
	told("readonly-parent-mv", rename(path, inside) == 0);
	told("proc-sys-write", open("/proc/sys/kernel/domainname", O_WRONLY) >= 0);
	snprintf(path, sizeof path, "%s/ok", writable);
	told("inside-write", open(path, O_CREAT | O_WRONLY, 0600) >= 0);
	snprintf(inside, sizeof inside, "%s/sub", writable);
	mkdir(inside, 0700);
	snprintf(inside, sizeof inside, "%s/sub/ok", writable);
	told("inside-rename", rename(path, inside) == 0);
}

static void processes(int foreign) {
	static const char *const names[] = {"environ", "maps", "cmdline", "stat", "mem", "auxv", "io"};
	char path[128];
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char name[40];
		snprintf(path, sizeof path, "/proc/%d/%s", foreign, names[i]);
		snprintf(name, sizeof name, "proc-%s", names[i]);
		if (strcmp(names[i], "mem") == 0) told(name, open(path, O_RDWR) >= 0);
		else told(name, can_read(path));
	}
	snprintf(path, sizeof path, "/proc/%d/root/etc/passwd", foreign);
	told("proc-root", can_read(path));
	snprintf(path, sizeof path, "/proc/%d/cwd/.", foreign);
	told("proc-cwd", open(path, O_RDONLY) >= 0);
	snprintf(path, sizeof path, "/proc/%d/fd/0", foreign);
	told("proc-fd", open(path, O_RDONLY) >= 0 || readlink(path, (char[64]){0}, 64) >= 0);
	told("inner-environ", can_read("/proc/1/environ"));
	told("kill-foreign", kill(foreign, 0) == 0);
	told("kill-parent", kill(getppid(), 0) == 0);
	told("ptrace", ptrace(PTRACE_SEIZE, foreign, 0, 0) == 0);
	char byte;
	struct iovec local = {&byte, 1}, remote = {(void *)0x400000, 1};
	told("process-vm-readv", process_vm_readv(foreign, &local, 1, &remote, 1, 0) == 1);
	told("mount", mount("none", "/mnt", "tmpfs", 0, NULL) == 0);
	told("unshare-user", unshare(CLONE_NEWUSER) == 0);
	told("unshare-net", unshare(CLONE_NEWNET) == 0);
	told("clone-newuser", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0) > 0);
	told("clone3-newuser", syscall(435, (unsigned long[11]){CLONE_NEWUSER, 0, 0, 0, SIGCHLD}, 88) > 0);
	told("setns", setns(0, 0) == 0);
	told("sethostname", sethostname("x", 1) == 0);
	told("io-uring", syscall(425, 1, (char[256]){0}) >= 0);
	told("keyctl", syscall(SYS_keyctl, 0, -3, 0) >= 0);
	told("bpf", syscall(SYS_bpf, 0, NULL, 0) >= 0 || errno == EFAULT || errno == EINVAL);
	told("perf", syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0) >= 0 || errno == EFAULT);
	told("tiocsti", ioctl(0, TIOCSTI, "x") == 0);
	told("capabilities", syscall(SYS_chroot, "/") == 0);
#if defined(__x86_64__)
	told("x32", syscall(0x40000000 | SYS_getpid) > 0);
#endif
}

static int connected(int family, int type, int protocol, int port) {
	int fd = socket(family, type | SOCK_CLOEXEC, protocol);
	if (fd < 0) return 0;
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	int worked = connect(fd, family == AF_INET ? (void *)&v4 : (void *)&v6, family == AF_INET ? sizeof v4 : sizeof v6) == 0;
	int failure = errno;
	close(fd);
	errno = failure;
	return worked;
}

static int unix_connected(const char *name, size_t length, int type) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	memcpy(address.sun_path, name, length);
	int fd = socket(AF_UNIX, type, 0);
	return fd >= 0 && connect(fd, (void *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) == 0;
}

static int fast_open(int port) {
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	return fd >= 0 && sendto(fd, "x", 1, MSG_FASTOPEN, (void *)&v4, sizeof v4) == 1;
}

static int own_server(void) {
	int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof v4;
	if (server < 0 || bind(server, (void *)&v4, size) != 0 || listen(server, 1) != 0 || getsockname(server, (void *)&v4, &size) != 0) return 0;
	return connect(client, (void *)&v4, size) == 0 && accept(server, NULL, NULL) >= 0;
}

static int datagram_pair_out(const char *path) {
	int pair[2];
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(address.sun_path, sizeof address.sun_path, "%s.dgram", path);
	return socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0 && sendto(pair[0], "x", 1, 0, (void *)&address, sizeof address) == 1;
}

static void network(const char *docker, int port, const char *abstract) {
	char name[108] = {0};
	snprintf(name + 1, sizeof name - 1, "%s", abstract);
	told("docker-socket", unix_connected(docker, strlen(docker) + 1, SOCK_STREAM));
	told("abstract-socket", unix_connected(name, strlen(abstract) + 1, SOCK_STREAM));
	told("datagram-pair", datagram_pair_out(docker));
	told("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){0, 0}) == 0);
	told("other-port-v4", connected(AF_INET, SOCK_STREAM, 0, port));
	told("other-port-v6", connected(AF_INET6, SOCK_STREAM, 0, port));
	told("fast-open", fast_open(port));
	told("mptcp", connected(AF_INET, SOCK_STREAM, 262, port));
	told("udp-v4", connected(AF_INET, SOCK_DGRAM, 0, port));
	told("udp-v6", connected(AF_INET6, SOCK_DGRAM, 0, port));
	told("sctp", socket(AF_INET, SOCK_SEQPACKET, 132) >= 0);
	told("raw", socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) >= 0);
	told("ping", socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP) >= 0);
	told("packet", socket(AF_PACKET, SOCK_RAW, 0) >= 0);
	told("vsock", socket(AF_VSOCK, SOCK_STREAM, 0) >= 0);
	told("alg", socket(AF_ALG, SOCK_SEQPACKET, 0) >= 0);
	told("netlink-audit", socket(AF_NETLINK, SOCK_RAW, 9) >= 0);
	told("netlink-route", socket(AF_NETLINK, SOCK_RAW, 0) >= 0);
	told("own-server", own_server());
	told("shm", shmget(0x4f525259, 4096, IPC_CREAT | 0600) >= 0);
}

int main(int argc, char **argv) {
	if (argc != 7) return 64;
	int inherited = 0;
	for (int fd = 3; fd < 1024; fd++) inherited |= fcntl(fd, F_GETFD) >= 0;
	told("inherited-fd", inherited);
	files(argv[1], argv[6]);
	processes(atoi(argv[2]));
	network(argv[3], atoi(argv[4]), argv[5]);
	return 0;
}
