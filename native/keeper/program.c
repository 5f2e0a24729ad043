// The last steps before the program: its own session, streams, limits and walls, then the gate, then exec.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "confine.h"
#include "inner.h"
#include "system.h"
#include "text.h"

enum { EXIT_NOT_STARTED = 125, EXIT_NOT_EXECUTED = 127, FIRST_FREE_FD = 3 };

_Noreturn static void give_up(int status_fd, char kind, const char *step, int exit_code) {
	struct report report = {.kind = kind, .error = errno};
	snprintf(report.step, sizeof report.step, "%s", step);
	write_all(status_fd, &report, sizeof report);
	_exit(exit_code);
}

static bool take_streams(const struct inner_ends *ends) {
	if (setsid() < 0) return false;
	int from[3] = {ends->stdio[0], ends->stdio[1], ends->stdio[2]};
	if (ends->terminal >= 0) {
		if (ioctl(ends->terminal, TIOCSCTTY, 0) != 0) return false;
		for (int i = 0; i < 3; i++) from[i] = ends->terminal;
	}
	// The keeper made all these above the standard ones, so no dup2 here overwrites a source.
	for (int i = 0; i < 3; i++)
		if (dup2(from[i], i) < 0) return false;
	return true;
}

static bool limit(int resource, uint64_t soft, uint64_t hard) {
	struct rlimit now, wanted = {.rlim_cur = (rlim_t)soft, .rlim_max = (rlim_t)hard};
	if (getrlimit(resource, &now) != 0) return false;
	if (now.rlim_max != RLIM_INFINITY && wanted.rlim_max > now.rlim_max) wanted.rlim_max = now.rlim_max;
	if (wanted.rlim_cur > wanted.rlim_max) wanted.rlim_cur = wanted.rlim_max;
	return setrlimit(resource, &wanted) == 0;
}

static bool take_limits(const struct spec *spec, const struct inner_ends *ends, const struct facts *facts) {
	const struct limit_spec *limits = &spec->limits;
	bool counted = facts->user_ns && !ends->processes_grouped;
	if (limits->cpu_seconds && !limit(RLIMIT_CPU, limits->cpu_seconds, limits->cpu_seconds + 1)) return false;
	if (limits->file_bytes && !limit(RLIMIT_FSIZE, limits->file_bytes, limits->file_bytes)) return false;
	// Counted per user namespace: only in an own one it is a bound of this run. One more for the inner process. It would
	// refuse before the group does, and nobody would know: not where there is a group.
#ifdef RLIMIT_NPROC
	if (limits->max_processes && counted && !limit(RLIMIT_NPROC, limits->max_processes + 1, limits->max_processes + 1)) return false;
#else
	(void)counted;
#endif
	return !spec->confine || limit(RLIMIT_CORE, 0, 0);
}

static void reset_signals(void) {
	for (int number = 1; number < NSIG; number++) {
		struct sigaction standard = {.sa_handler = SIG_DFL};
		sigaction(number, &standard, NULL); // fails for KILL, STOP and libc's own, which need nothing
	}
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

void program_main(const struct spec *spec, char **env, const struct inner_ends *ends, const struct facts *facts) {
	system_die_with_parent();
	for (int i = 0; i < 2; i++)
		if (ends->cgroup_procs[i] >= 0 && !write_all(ends->cgroup_procs[i], "0\n", 2)) give_up(ends->status, 'F', "setup:cgroup", EXIT_NOT_STARTED);
	if (!take_streams(ends)) give_up(ends->status, 'F', "setup:streams", EXIT_NOT_STARTED);
	if (!take_limits(spec, ends, facts)) give_up(ends->status, 'F', "setup:limits", EXIT_NOT_STARTED);
	if (chdir(spec->cwd) != 0) {
		char step[120];
		snprintf(step, sizeof step, "path:%.110s", spec->cwd);
		give_up(ends->status, 'F', step, EXIT_NOT_STARTED);
	}
	umask(ends->umask);
	system_close_on_exec_from(FIRST_FREE_FD);
	char step[120];
	if (spec->confine && !walls_build(spec, facts, step, sizeof step)) give_up(ends->status, 'F', step, EXIT_NOT_STARTED);
	reset_signals();
	struct report ready = {.kind = 'R'};
	if (!write_all(ends->status, &ready, sizeof ready)) _exit(EXIT_NOT_STARTED);
	char go = 0;
	ssize_t n;
	do n = read(ends->gate, &go, 1);
	while (n < 0 && errno == EINTR);
	if (n < 0) give_up(ends->status, 'F', "setup:gate", EXIT_NOT_STARTED);
	if (n != 1) _exit(EXIT_NOT_STARTED);
	extern char **environ;
	environ = env;
	execvp(spec->command, spec->argv);
	give_up(ends->status, 'X', "exec", EXIT_NOT_EXECUTED);
}
