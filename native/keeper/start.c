#include "start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system.h"
#include "text.h"

// Without copying the caller, where that is known to be right.
#if defined(__linux__) && !defined(ORRERY_PORTABLE)
#define quick_fork vfork
#else
#define quick_fork fork
#endif

enum { WITH_INPUT = 1, WITH_STDERR = 2, LIVES_ON = 4, START_HEAD = 13, EXIT_NOT_STARTED = 127 };

uint32_t get_u32(const uint8_t *at) { return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24; }

// `text` holds the folder, the arguments and the environment, each ended by a NUL.
static bool split(struct start *start, char *text, size_t size, uint32_t args, uint32_t variables) {
	size_t count = 0, at = 0;
	for (size_t i = 0; i < size; i++) count += !text[i];
	if (size == 0 || text[size - 1] || args == 0 || count != 1 + (size_t)args + variables) return false;
	if (!(start->argv = calloc(count + 1, sizeof *start->argv))) return false;
	start->env = start->argv + args + 1;
	start->cwd = text;
	for (size_t i = 0; i < count - 1; i++) {
		at += strlen(text + at) + 1;
		if (i < args) start->argv[i] = text + at;
		else start->env[i - args] = text + at;
	}
	return true;
}

bool start_parse(struct start *start, uint8_t *payload, size_t size) {
	*start = (struct start){.in = -1, .out = {-1, -1}};
	if (size < START_HEAD || payload[0] > (WITH_INPUT | WITH_STDERR | LIVES_ON)) return false;
	start->with_input = payload[0] & WITH_INPUT;
	start->with_stderr = payload[0] & WITH_STDERR;
	start->lives_on = payload[0] & LIVES_ON;
	start->memory_mib = get_u32(payload + 9);
	return split(start, (char *)payload + START_HEAD, size - START_HEAD, get_u32(payload + 1), get_u32(payload + 5));
}

// Shares our memory until exec: writes nothing but its error.
__attribute__((noinline)) static pid_t execute(const struct start *start, const int ends[3], volatile int *failure) {
	const pid_t self = getpid();
	const pid_t pid = quick_fork();
	if (pid != 0) return pid;
	sigset_t none;
	sigemptyset(&none);
	for (int i = 1; i < NSIG; i++) signal(i, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	bool ready = setsid() > 0 && (start->lives_on || (system_die_with_parent() && getppid() == self)) && chdir(start->cwd) == 0;
	// Data, and not address space: a pack is read through a map that costs nothing.
	const struct rlimit memory = {(rlim_t)start->memory_mib << 20, (rlim_t)start->memory_mib << 20};
	ready = ready && (start->memory_mib == 0 || setrlimit(RLIMIT_DATA, &memory) == 0);
	for (int i = 0; i < 3 && ready; i++) ready = dup2(ends[i], i) == i;
	if (ready) execve(start->argv[0], start->argv, start->env);
	*failure = errno ? errno : ECHILD;
	_exit(EXIT_NOT_STARTED);
}

static bool open_ends(struct start *start, int ends[3]) {
	int pair[2];
	if (start->with_input) {
		if (!system_pipe(pair)) return false;
		ends[0] = pair[0];
		start->in = pair[1];
		if (!set_nonblocking(pair[1])) return false;
	}
	for (int i = 0; i < 2; i++) {
		if (i == 1 && !start->with_stderr) continue;
		if (!system_pipe(pair)) return false;
		ends[i + 1] = pair[1];
		start->out[i] = pair[0];
		if (!set_nonblocking(pair[0])) return false;
	}
	return true;
}

int start_execute(struct start *start, int null) {
	volatile int failure = 0;
	int ends[3] = {null, null, null};
	if (start->argv[0][0] != '/' || start->cwd[0] != '/') return ENOENT; // nothing is looked up, neither here nor on a PATH
	if (!open_ends(start, ends)) failure = errno;
	else if ((start->pid = execute(start, ends, &failure)) < 0) failure = errno;
	else if (failure) waitpid(start->pid, NULL, 0);
	for (int i = 0; i < 3; i++)
		if (ends[i] != null) close(ends[i]);
	return failure;
}
