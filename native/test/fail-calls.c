// Linked into the build with faults (`-Wl,--wrap=…`): makes one chosen system call fail, and the wall clock jump.
//   KEEPER_FAIL=<call>:<n>:<how>   the n-th call (from 1) of this name, counted over the keeper and its inner process;
//                                  how: a number of errno, or `short` (takes or gives one byte)
//   KEEPER_FAIL_NOTE=<path>        is made when that call came
//   KEEPER_CLOCK_JUMP=<ms>:<ms>    the wall clock jumps by the second, the first after the start
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct { int count, at, error; bool is_short; char name[32]; } *shared;
static const char *note;
static long long jump_after_ms, jump_ms, started_ms;

int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __real_open(const char *path, int flags, ...);
int __real_close(int fd);

static long long monotonic_ms(void) {
	struct timespec t;
	__real_clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

__attribute__((constructor)) static void begin(void) {
	const char *wanted = getenv("KEEPER_FAIL"), *jump = getenv("KEEPER_CLOCK_JUMP");
	char how[16] = "";
	started_ms = monotonic_ms();
	note = getenv("KEEPER_FAIL_NOTE");
	if (jump && sscanf(jump, "%lld:%lld", &jump_after_ms, &jump_ms) != 2) abort();
	if (!wanted) return;
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || sscanf(wanted, "%31[^:]:%d:%15s", shared->name, &shared->at, how) != 3) abort();
	shared->is_short = strcmp(how, "short") == 0;
	shared->error = atoi(how);
}

static bool comes(const char *name) {
	if (!shared || strcmp(shared->name, name) != 0 || __atomic_add_fetch(&shared->count, 1, __ATOMIC_SEQ_CST) != shared->at) return false;
	if (note) __real_close(__real_open(note, O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
	return true;
}

static bool fails(const char *name) {
	if (!comes(name)) return false;
	errno = shared->error;
	return true;
}

#define WRAP(result, name, parameters, arguments) \
	result __real_##name parameters; \
	result __wrap_##name parameters; \
	result __wrap_##name parameters { return fails(#name) ? (result)-1 : __real_##name arguments; }
#define WRAP_POINTER(name, parameters, arguments) \
	void *__real_##name parameters; \
	void *__wrap_##name parameters; \
	void *__wrap_##name parameters { return fails(#name) ? NULL : __real_##name arguments; }
// Calls that may do less than they were asked for.
#define WRAP_SIZED(name, parameters, arguments, fewer) \
	ssize_t __real_##name parameters; \
	ssize_t __wrap_##name parameters; \
	ssize_t __wrap_##name parameters { \
		if (!comes(#name)) return __real_##name arguments; \
		if (shared->is_short) { \
			ssize_t n = __real_##name fewer; \
			return n < 0 && errno == EINVAL ? __real_##name arguments : n; /* a signalfd gives all or nothing */ \
		} \
		errno = shared->error; \
		return -1; \
	}

WRAP_SIZED(read, (int fd, void *bytes, size_t size), (fd, bytes, size), (fd, bytes, size ? 1 : 0))
WRAP_SIZED(write, (int fd, const void *bytes, size_t size), (fd, bytes, size), (fd, bytes, size ? 1 : 0))
WRAP_SIZED(pread, (int fd, void *bytes, size_t size, off_t at), (fd, bytes, size, at), (fd, bytes, size ? 1 : 0, at))
WRAP_SIZED(pwrite, (int fd, const void *bytes, size_t size, off_t at), (fd, bytes, size, at), (fd, bytes, size ? 1 : 0, at))
WRAP_SIZED(send, (int fd, const void *bytes, size_t size, int flags), (fd, bytes, size, flags), (fd, bytes, size ? 1 : 0, flags))
WRAP(ssize_t, recv, (int fd, void *bytes, size_t size, int flags), (fd, bytes, size, flags))
WRAP(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
WRAP(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
WRAP(int, poll, (struct pollfd *fds, nfds_t count, int ms), (fds, count, ms))
WRAP(int, pipe2, (int ends[2], int flags), (ends, flags))
WRAP(int, socket, (int domain, int type, int protocol), (domain, type, protocol))
WRAP(int, socketpair, (int domain, int type, int protocol, int ends[2]), (domain, type, protocol, ends))
WRAP(int, bind, (int fd, const struct sockaddr *address, socklen_t size), (fd, address, size))
WRAP(int, listen, (int fd, int most), (fd, most))
WRAP(int, accept4, (int fd, struct sockaddr *address, socklen_t *size, int flags), (fd, address, size, flags))
WRAP(int, signalfd, (int fd, const sigset_t *mask, int flags), (fd, mask, flags))
WRAP(int, fsync, (int fd), (fd))
WRAP(int, fdatasync, (int fd), (fd))
WRAP(int, ftruncate, (int fd, off_t size), (fd, size))
WRAP(int, fallocate, (int fd, int mode, off_t at, off_t size), (fd, mode, at, size))
WRAP(int, renameat, (int from_dir, const char *from, int to_dir, const char *to), (from_dir, from, to_dir, to))
WRAP(int, unlinkat, (int dir, const char *name, int flags), (dir, name, flags))
WRAP(int, fstat, (int fd, struct stat *into), (fd, into))
WRAP(int, fstatat, (int dir, const char *name, struct stat *into, int flags), (dir, name, into, flags))
WRAP(int, chmod, (const char *path, mode_t mode), (path, mode))
WRAP(int, mount, (const char *what, const char *at, const char *type, unsigned long flags, const void *with), (what, at, type, flags, with))
WRAP(int, ioctl, (int fd, unsigned long request, void *with), (fd, request, with))
WRAP(int, chdir, (const char *path), (path))
WRAP(int, dup2, (int from, int to), (from, to))
WRAP(pid_t, fork, (void), ())
WRAP(pid_t, setsid, (void), ())
WRAP(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options))
WRAP(pid_t, wait4, (pid_t pid, int *status, int options, struct rusage *usage), (pid, status, options, usage))
WRAP(int, waitid, (idtype_t type, id_t id, siginfo_t *info, int options), (type, id, info, options))
WRAP(int, setrlimit, (int resource, const struct rlimit *limit), (resource, limit))
WRAP(int, execvp, (const char *file, char *const arguments[]), (file, arguments))
WRAP_POINTER(malloc, (size_t size), (size))
WRAP_POINTER(calloc, (size_t count, size_t size), (count, size))
WRAP_POINTER(realloc, (void *old, size_t size), (old, size))
WRAP_POINTER(opendir, (const char *path), (path))

int __real_posix_fallocate(int fd, off_t at, off_t size);
int __wrap_posix_fallocate(int fd, off_t at, off_t size);
int __wrap_posix_fallocate(int fd, off_t at, off_t size) { return comes("posix_fallocate") ? shared->error : __real_posix_fallocate(fd, at, size); }

// A close that fails has closed all the same.
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd) {
	int done = __real_close(fd);
	return fails("close") ? -1 : done;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
	va_list rest;
	va_start(rest, flags);
	mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
	va_end(rest);
	return fails("open") ? -1 : __real_open(path, flags, mode);
}

int __real_openat(int dir, const char *path, int flags, ...);
int __wrap_openat(int dir, const char *path, int flags, ...);
int __wrap_openat(int dir, const char *path, int flags, ...) {
	va_list rest;
	va_start(rest, flags);
	mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
	va_end(rest);
	return fails("openat") ? -1 : __real_openat(dir, path, flags, mode);
}

int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...) {
	va_list rest;
	va_start(rest, command);
	long value = command == F_SETFD || command == F_SETFL || command == F_DUPFD_CLOEXEC ? va_arg(rest, int) : 0;
	va_end(rest);
	return fails("fcntl") ? -1 : __real_fcntl(fd, command, value);
}

int __real_prctl(int option, ...);
int __wrap_prctl(int option, ...);
int __wrap_prctl(int option, ...) {
	unsigned long with[4];
	va_list rest;
	va_start(rest, option);
	for (int i = 0; i < 4; i++) with[i] = va_arg(rest, unsigned long);
	va_end(rest);
	return fails("prctl") ? -1 : __real_prctl(option, with[0], with[1], with[2], with[3]);
}

// Among others clone, Landlock and capabilities.
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
	long with[6];
	va_list rest;
	va_start(rest, number);
	for (int i = 0; i < 6; i++) with[i] = va_arg(rest, long);
	va_end(rest);
	return fails("syscall") ? -1 : __real_syscall(number, with[0], with[1], with[2], with[3], with[4], with[5]);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time) {
	int done = __real_clock_gettime(clock, time);
	if (clock == CLOCK_REALTIME && jump_ms && monotonic_ms() - started_ms >= jump_after_ms) time->tv_sec += (time_t)(jump_ms / 1000);
	return done;
}
