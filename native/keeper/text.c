#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void text_print(struct text *text, const char *format, ...) {
	va_list first, second;
	va_start(first, format);
	va_copy(second, first);
	int needed = vsnprintf(NULL, 0, format, first);
	va_end(first);
	size_t total = text->size + (size_t)(needed < 0 ? 0 : needed) + 1;
	if (!text->failed && needed >= 0 && total > text->room) {
		size_t room = total + total / 2;
		char *bytes = realloc(text->bytes, room);
		if (bytes) text->bytes = bytes, text->room = room;
		else text->failed = true;
	}
	if (!text->failed && needed >= 0) {
		vsnprintf(text->bytes + text->size, text->room - text->size, format, second);
		text->size += (size_t)needed;
	}
	va_end(second);
}

void text_json(struct text *text, const char *value) {
	if (!value) {
		text_print(text, "null");
		return;
	}
	text_print(text, "\"");
	for (; *value; value++) {
		unsigned char c = (unsigned char)*value;
		if (c == '"' || c == '\\') text_print(text, "\\%c", c);
		else if (c < 0x20) text_print(text, "\\u%04x", c);
		else text_print(text, "%c", c);
	}
	text_print(text, "\"");
}

void text_free(struct text *text) {
	free(text->bytes);
	*text = (struct text){0};
}

bool write_all(int fd, const void *bytes, size_t size) {
	const char *at = bytes;
	while (size > 0) {
		ssize_t n = write(fd, at, size);
		if (n < 0 && errno == EINTR) continue;
		if (n < 0) return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

bool pwrite_all(int fd, const void *bytes, size_t size, uint64_t at) {
	const char *from = bytes;
	while (size > 0) {
		ssize_t n = pwrite(fd, from, size, (off_t)at);
		if (n < 0 && errno == EINTR) continue;
		if (n == 0) errno = ENOSPC;
		if (n <= 0) return false;
		from += n;
		at += (uint64_t)n;
		size -= (size_t)n;
	}
	return true;
}

ssize_t read_full(int fd, void *into, size_t size) {
	size_t done = 0;
	while (done < size) {
		ssize_t n = read(fd, (char *)into + done, size - done);
		if (n < 0 && errno == EINTR) continue;
		if (n < 0) return -1;
		if (n == 0) break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

char *read_file(int dir_fd, const char *name, size_t max, size_t *size) {
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0) return NULL;
	char *bytes = NULL;
	size_t used = 0, room = 0;
	int failure = 0;
	for (;;) {
		if (used + 1 >= room) {
			room = room ? room * 2 : 4096;
			char *more = realloc(bytes, room);
			if (!more) { failure = ENOMEM; break; }
			bytes = more;
		}
		ssize_t n = read(fd, bytes + used, room - used - 1);
		if (n < 0 && errno == EINTR) continue;
		if (n < 0) failure = errno;
		if (n <= 0) break;
		used += (size_t)n;
		if (used > max) { failure = EFBIG; break; }
	}
	close(fd);
	if (failure) {
		free(bytes);
		errno = failure;
		return NULL;
	}
	bytes[used] = 0;
	*size = used;
	return bytes;
}

bool replace_file(int dir_fd, const char *name, const struct text *content, bool sync) {
	char temporary[64];
	if (content->failed) {
		errno = ENOMEM;
		return false;
	}
	snprintf(temporary, sizeof temporary, "%s.tmp", name);
	int fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) return false;
	bool done = write_all(fd, content->bytes, content->size) && (!sync || fsync(fd) == 0);
	int failure = errno;
	if (close(fd) != 0 && done) done = false, failure = errno;
	if (done && renameat(dir_fd, temporary, dir_fd, name) != 0) done = false, failure = errno;
	if (done && sync && fsync(dir_fd) != 0) done = false, failure = errno;
	if (!done) unlinkat(dir_fd, temporary, 0);
	errno = failure;
	return done;
}

const char *errno_name(int number) {
	static const struct { int number; const char *name; } names[] = {
		{EPERM, "EPERM"}, {ENOENT, "ENOENT"}, {EINTR, "EINTR"}, {EIO, "EIO"}, {ENXIO, "ENXIO"}, {E2BIG, "E2BIG"}, {ENOEXEC, "ENOEXEC"}, {EBADF, "EBADF"}, {EAGAIN, "EAGAIN"},
		{ENOMEM, "ENOMEM"}, {EACCES, "EACCES"}, {EBUSY, "EBUSY"}, {EEXIST, "EEXIST"}, {EXDEV, "EXDEV"}, {ENODEV, "ENODEV"}, {ENOTDIR, "ENOTDIR"},
		{EISDIR, "EISDIR"}, {EINVAL, "EINVAL"}, {ENFILE, "ENFILE"}, {EMFILE, "EMFILE"}, {ETXTBSY, "ETXTBSY"}, {EFBIG, "EFBIG"}, {ENOSPC, "ENOSPC"},
		{EROFS, "EROFS"}, {EPIPE, "EPIPE"}, {ENAMETOOLONG, "ENAMETOOLONG"}, {ENOSYS, "ENOSYS"}, {ELOOP, "ELOOP"}, {EDQUOT, "EDQUOT"}, {EOPNOTSUPP, "EOPNOTSUPP"},
		{EADDRINUSE, "EADDRINUSE"}, {EADDRNOTAVAIL, "EADDRNOTAVAIL"}, {ECHILD, "ECHILD"}, {ETIMEDOUT, "ETIMEDOUT"}, {ESTALE, "ESTALE"}, {EAFNOSUPPORT, "EAFNOSUPPORT"},
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].number == number) return names[i].name;
	return "EOTHER";
}

const char *signal_name(int number) {
	static const struct { int number; const char *name; } names[] = {
		{SIGHUP, "SIGHUP"}, {SIGINT, "SIGINT"}, {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"}, {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},
		{SIGFPE, "SIGFPE"}, {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"}, {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"},
		{SIGTERM, "SIGTERM"}, {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}, {SIGVTALRM, "SIGVTALRM"}, {SIGPROF, "SIGPROF"}, {SIGSYS, "SIGSYS"}, {SIGIO, "SIGIO"},
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].number == number) return names[i].name;
	return "SIGOTHER";
}

int signal_number(const char *name) {
	static const struct { const char *name; int number; } names[] = {
		{"SIGINT", SIGINT}, {"SIGTERM", SIGTERM}, {"SIGHUP", SIGHUP}, {"SIGUSR1", SIGUSR1}, {"SIGUSR2", SIGUSR2}, {"SIGWINCH", SIGWINCH},
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i].name, name) == 0) return names[i].number;
	return 0;
}

static uint64_t clock_ms(clockid_t clock) {
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

uint64_t now_ms(void) { return clock_ms(CLOCK_MONOTONIC); }
uint64_t wall_now_ms(void) { return clock_ms(CLOCK_REALTIME); }

bool set_nonblocking(int fd) {
	int flags = fcntl(fd, F_GETFL);
	return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}
