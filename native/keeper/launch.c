// From the spec to a program that stands behind its gate: pipes, namespaces, inner process, walls, guarantees.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "confine.h"
#include "keeper.h"
#include "tree.h"

enum { SETUP_TIMEOUT_MS = 20000, WRAPPER_WORDS_MS = 1000 };

static void close_one(int *fd) {
	if (*fd >= 0) close(*fd);
	*fd = -1;
}

static bool open_terminal(struct keeper *k, struct inner_ends *ends) {
	k->terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (k->terminal < 0 || grantpt(k->terminal) != 0 || unlockpt(k->terminal) != 0) return false;
	const char *name = ptsname(k->terminal);
	struct winsize size = {.ws_col = (unsigned short)k->spec.columns, .ws_row = (unsigned short)k->spec.rows};
	ends->terminal = name ? open(name, O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
	if (ends->terminal < 0 || ioctl(k->terminal, TIOCSWINSZ, &size) != 0 || !set_nonblocking(k->terminal)) return false;
	k->spools[STREAM_STDOUT].source = k->stdin_fd = k->terminal;
	return true;
}

// Real pipes: a socket pair cannot be opened again as /dev/stderr.
static bool open_pipes(struct keeper *k, struct inner_ends *ends) {
	int in[2];
	if (!system_pipe(in)) return false;
	ends->stdio[0] = in[0];
	if (k->spec.stdio == STDIO_STREAM) {
		k->stdin_fd = in[1];
		if (!set_nonblocking(in[1])) return false;
	} else close(in[1]);
	for (int i = 0; i < STREAM_COUNT; i++) {
		int out[2];
		if (!system_pipe(out)) return false;
		k->spools[i].source = out[0];
		ends->stdio[i + 1] = out[1];
		if (!set_nonblocking(out[0])) return false;
	}
	return true;
}

static bool open_gates(struct keeper *k, struct inner_ends *ends) {
	int gate[2], status[2];
	if (!system_pipe(gate)) return false;
	ends->gate = gate[0];
	k->gate = gate[1];
	if (!system_pipe(status)) return false;
	k->status = status[0];
	ends->status = status[1];
	return true;
}

static void close_program_side(struct inner_ends *ends) {
	for (int i = 0; i < 3; i++) close_one(&ends->stdio[i]);
	for (int i = 0; i < MAX_CGROUPS; i++) close_one(&ends->cgroup_procs[i]);
	close_one(&ends->terminal);
	close_one(&ends->gate);
	close_one(&ends->status);
}

static void close_keeper_side(struct keeper *k) {
	if (k->stdin_fd == k->terminal) k->stdin_fd = -1;
	if (k->terminal >= 0) k->spools[STREAM_STDOUT].source = -1;
	close_one(&k->stdin_fd);
	close_one(&k->terminal);
	for (int i = 0; i < STREAM_COUNT; i++) close_one(&k->spools[i].source);
	close_one(&k->gate);
	close_one(&k->status);
	close_one(&k->front.listener);
	close_one(&k->wrapper_says);
}

static bool readable_in_time(int fd) {
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	int ready;
	do ready = poll(&wait, 1, SETUP_TIMEOUT_MS);
	while (ready < 0 && errno == EINTR);
	if (ready == 0) errno = ETIMEDOUT;
	return ready > 0;
}

// The master of the run's own terminal takes the descriptor of the machine's.
static bool replace_terminal(struct keeper *k, int master) {
	struct winsize size = {.ws_col = (unsigned short)k->spec.columns, .ws_row = (unsigned short)k->spec.rows};
	bool replaced = system_replace(master, k->terminal) && set_nonblocking(k->terminal) && ioctl(k->terminal, TIOCSWINSZ, &size) == 0;
	close(master);
	return replaced;
}

bool launch_receive_facts(struct keeper *k, struct facts *facts) {
	struct message message;
	int passed[MAX_PASSED] = {-1, -1}, count = 0;
	if (!readable_in_time(k->control)) return false;
	if (system_receive(k->control, &message, sizeof message, 0, passed, &count) != (ssize_t)sizeof message || message.kind != MESSAGE_FACTS) return false;
	*facts = message.facts;
	if (facts->passes_terminal) {
		if (count == 0 || !replace_terminal(k, passed[--count])) return false;
	}
	if (count > 0) k->front.listener = passed[0];
	return true;
}

void launch_end_inner(struct keeper *k) {
	if (k->inner_pid > 0) {
		kill(k->inner_pid, SIGKILL);
		tree_end(k->program_group);
	}
	k->inner_pid = -1;
	close_one(&k->control);
}

// Why a wrapper did not get as far as the inner process, in its own words.
static void wrapper_reason(struct keeper *k, char *reason, size_t size) {
	char words[130] = "";
	struct pollfd wait = {.fd = k->wrapper_says, .events = POLLIN};
	ssize_t n = poll(&wait, 1, WRAPPER_WORDS_MS) > 0 ? read(k->wrapper_says, words, sizeof words - 1) : 0;
	if (n <= 0) snprintf(words, sizeof words, "it ended and said nothing");
	words[strcspn(words, "\n")] = 0;
	snprintf(reason, size, "wrapper:%s", words);
}

static bool receive_ready(struct keeper *k, char *reason, size_t size) {
	struct report report;
	ssize_t n = readable_in_time(k->status) ? read_full(k->status, &report, sizeof report) : -1;
	if (n == (ssize_t)sizeof report && report.kind == 'R') return true;
	if (n != (ssize_t)sizeof report) snprintf(reason, size, "setup:program:%s", n < 0 ? errno_name(errno) : "EIO");
	else if (strncmp(report.step, "path:", 5) == 0) snprintf(reason, size, "%s", report.step);
	else snprintf(reason, size, "%s:%s", report.step, errno_name(report.error));
	return false;
}

static bool required_are_held(const struct keeper *k, char *reason, size_t size) {
	for (int i = 0; i < GUARANTEE_COUNT; i++) {
		if (!k->spec.required[i] || k->guarantees[i].held) continue;
		snprintf(reason, size, "guarantee:%s", guarantee_names[i]);
		return false;
	}
	return true;
}

static bool paths_exist(const struct spec *spec, char *reason, size_t size) {
	struct stat stat_of;
	for (size_t i = 0; i < spec->rule_count; i++) {
		if (stat(spec->rules[i].path, &stat_of) == 0) continue;
		snprintf(reason, size, "path:%.140s", spec->rules[i].path);
		return false;
	}
	return true;
}

static bool prepare(struct keeper *k, char **env, struct inner_ends *ends, char *reason, size_t size) {
	struct facts facts = {0};
	snprintf(reason, size, "setup:pipes");
	bool opened = (k->spec.stdio == STDIO_PTY ? open_terminal(k, ends) : open_pipes(k, ends)) && open_gates(k, ends);
	if (!opened) {
		snprintf(reason, size, "setup:streams:%s", errno_name(errno));
		return false;
	}
	int own[] = {k->dir_fd, k->terminal, k->stdin_fd == k->terminal ? -1 : k->stdin_fd, k->terminal >= 0 ? -1 : k->spools[0].source, k->spools[1].source, k->gate, k->status, -1};
	memcpy(ends->keeper_ends, own, sizeof own);
	if (!launch_start_inner(k, env, ends, &facts)) {
		snprintf(reason, size, "setup:start:%s", errno_name(errno));
		if (k->spec.wrapper_count) wrapper_reason(k, reason, size);
		return false;
	}
	close_program_side(ends);
	if (k->spec.front.port && k->front.listener < 0) {
		snprintf(reason, size, "front:%s", errno_name(facts.front_error));
		return false;
	}
	if (!receive_ready(k, reason, size)) return false;
	close_one(&k->wrapper_says);
	guarantee_judge(k, &facts);
	return required_are_held(k, reason, size);
}

bool launch_prepare(struct keeper *k, char **env, mode_t program_umask, char *reason, size_t reason_size) {
	struct inner_ends ends = {.control = -1, .gate = -1, .status = -1, .stdio = {-1, -1, -1}, .terminal = -1, .umask = program_umask};
	if (!paths_exist(&k->spec, reason, reason_size)) return false;
	cgroups_make(&k->cgroups, k->spec.limits.memory_bytes, k->spec.limits.max_processes, k->identity.pid, k->identity.start_ticks);
	cgroups_open_members(&k->cgroups, ends.cgroup_procs);
	ends.processes_grouped = cgroups_hold(&k->cgroups, false);
	bool prepared = system_adopt_orphans();
	if (!prepared) snprintf(reason, reason_size, "setup:subreaper:%s", errno_name(errno));
	else prepared = prepare(k, env, &ends, reason, reason_size);
	if (!prepared && k->cgroups.count && strncmp(reason, "setup:cgroup", 12) == 0) {
		// The group could be made but not joined (a delegation that ends here): the keeper watches these limits itself.
		launch_end_inner(k);
		cgroups_remove(&k->cgroups);
		close_keeper_side(k);
		close_program_side(&ends);
		ends.processes_grouped = false;
		prepared = prepare(k, env, &ends, reason, reason_size);
	}
	// After the clone: a process that cannot be looked into could not write its children's user maps.
	if (!system_hide_memory() && prepared) {
		snprintf(reason, reason_size, "setup:dumpable:%s", errno_name(errno));
		prepared = false;
	}
	close_program_side(&ends);
	if (prepared) return true;
	launch_end_inner(k);
	cgroups_remove(&k->cgroups);
	return false;
}
