#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "text.h"

// A keeper has one thread, and nothing forks between two of these calls.
static bool close_on_exec(int fd) { return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0; }

static int made(int fd, bool ready) {
	if (fd < 0 || ready) return fd;
	int failure = errno;
	close(fd);
	errno = failure;
	return -1;
}

static bool made_both(int ends[2], bool made_them) {
	if (!made_them) return false;
	if (close_on_exec(ends[0]) && close_on_exec(ends[1])) return true;
	close(ends[0]);
	close(ends[1]);
	return false;
}

bool system_pipe(int ends[2]) { return made_both(ends, pipe(ends) == 0); }
bool system_pair(int ends[2]) { return made_both(ends, socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0); }

int system_socket(int domain) {
	int fd = socket(domain, SOCK_STREAM, 0);
	return made(fd, fd >= 0 && close_on_exec(fd) && set_nonblocking(fd));
}

int system_accept(int listener) {
	int fd = accept(listener, NULL, NULL);
	return made(fd, fd >= 0 && close_on_exec(fd) && set_nonblocking(fd));
}

bool system_replace(int from, int to) { return dup2(from, to) >= 0 && close_on_exec(to); }

// A stream keeps no borders, but both sides send nothing else than messages of this size.
ssize_t system_receive(int fd, void *message, size_t size, int flags, int passed[2], int *count) {
	struct iovec part = {.iov_base = message, .iov_len = size};
	union { struct cmsghdr header; char room[CMSG_SPACE(2 * sizeof(int))]; } control;
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
	memset(&control, 0, sizeof control);
	*count = 0;
	ssize_t n;
	do n = recvmsg(fd, &header, flags);
	while (n < 0 && errno == EINTR);
	if (n > 0 && (size_t)n < size) {
		ssize_t rest = recv(fd, (char *)message + n, size - (size_t)n, MSG_WAITALL);
		n = rest > 0 ? n + rest : -1;
	}
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&header) : NULL;
	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) return n;
	*count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
	memcpy(passed, CMSG_DATA(c), (size_t)*count * sizeof(int));
	for (int i = 0; i < *count; i++)
		if (!close_on_exec(passed[i])) n = -1;
	return n;
}

int system_connect_unix(const char *path) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof address.sun_path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(address.sun_path, path);
	int fd = system_socket(AF_UNIX);
	return made(fd, fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
}

void system_close_from(int first) {
	long most = sysconf(_SC_OPEN_MAX);
	for (int fd = first; fd < most; fd++) close(fd);
}

void system_close_on_exec_from(int first) {
	long most = sysconf(_SC_OPEN_MAX);
	for (int fd = first; fd < most; fd++)
		if (fcntl(fd, F_GETFD) >= 0) close_on_exec(fd);
}

// The write end of the pipe that signals come through: a handler knows nothing else than what is here.
static volatile sig_atomic_t told = -1;

static void tell(int number) {
	int failure = errno;
	unsigned char byte = (unsigned char)number;
	if (told >= 0 && write(told, &byte, 1) < 0) { /* full: the reader looks at everything anyway */ }
	errno = failure;
}

int system_signals(const sigset_t *mask) {
	int ends[2];
	if (!system_pipe(ends)) return -1;
	if (!set_nonblocking(ends[0]) || !set_nonblocking(ends[1])) return -1;
	if (told >= 0) close(told); // of the process that this one was forked from
	told = ends[1];
	for (int number = 1; number < NSIG; number++) {
		if (sigismember(mask, number) != 1 || number == SIGKILL || number == SIGSTOP) continue;
		struct sigaction action = {.sa_handler = tell, .sa_flags = SA_RESTART};
		sigaction(number, &action, NULL);
	}
	sigprocmask(SIG_UNBLOCK, mask, NULL);
	return ends[0];
}

bool system_next_signal(int fd, int *number) {
	unsigned char byte = 0;
	ssize_t n;
	do n = read(fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	*number = byte;
	return n == 1;
}

bool system_boot_id(char boot_id[40]) {
	strcpy(boot_id, "00000000-0000-0000-0000-000000000000");
	return true;
}

uint64_t start_ticks_of(int pid) { return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM) ? 1 : 0; }

void system_kill(int pid, uint64_t start_ticks) {
	if (start_ticks_of(pid) == start_ticks) kill(pid, SIGKILL);
}

int system_peer(int fd) { return fd < 0 ? 0 : -1; }
bool system_adopt_orphans(void) { return true; }
bool system_die_with_parent(void) { return true; }
bool system_hide_memory(void) { return true; }

// Usage is told for all children together: here that is one, with all it waited for.
pid_t system_wait(int *status, struct rusage *usage) {
	pid_t pid;
	do pid = waitpid(-1, status, WNOHANG);
	while (pid < 0 && errno == EINTR);
	if (pid > 0) getrusage(RUSAGE_CHILDREN, usage);
	return pid;
}

bool system_reserve(int fd, uint64_t size) {
	static const char zeros[4096];
	return size <= sizeof zeros && pwrite_all(fd, zeros, (size_t)size, 0);
}

bool system_punch(int fd, uint64_t from, uint64_t until) {
	(void)fd, (void)from, (void)until;
	return false; // the bytes stay until DIR goes
}

void system_wipe(void *bytes, size_t size) {
	volatile unsigned char *at = bytes;
	while (size-- > 0) *at++ = 0;
}
