// The life of a run: gate, limits, end. One loop, one thread.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults.h"
#include "keeper.h"
#include "tree.h"

enum { CHECK_MS = 5000, WATCH_MS = 250, INNER_PATIENCE_MS = 2000 };

void poll_wake_at(struct keeper *k, uint64_t at) {
	if (at < k->poll.wake_at) k->poll.wake_at = at;
}

void poll_add(struct keeper *k, int fd, short events, poll_handler *handler, void *context) {
	struct poll_set *p = &k->poll;
	if (fd < 0 || p->count == MAX_POLL) return;
	p->fds[p->count] = (struct pollfd){.fd = fd, .events = events};
	p->calls[p->count].handler = handler;
	p->calls[p->count++].context = context;
}

static void set_reason(struct keeper *k, const char *reason) {
	if (!k->exit.reason[0]) snprintf(k->exit.reason, sizeof k->exit.reason, "%s", reason);
}

static void order_end(struct keeper *k) {
	struct message order = {.kind = MESSAGE_END};
	k->inner_at = now_ms() + INNER_PATIENCE_MS;
	if (k->control < 0 || !message_send(k->control, &order, NULL)) k->inner_at = 0;
}

void run_end(struct keeper *k, const char *limit, const char *reason) {
	if (k->state == RUN_ENDING || k->state == RUN_ENDED) return;
	k->exit.limit = limit;
	set_reason(k, reason);
	k->state = RUN_ENDING;
	order_end(k);
}

void run_lost(struct keeper *k, const char *code, int error) {
	char reason[64];
	if (k->lost) return;
	k->lost = true;
	snprintf(reason, sizeof reason, error ? "%s:%s" : "%s", code, errno_name(error));
	set_reason(k, reason);
	run_end(k, NULL, reason);
	viewer_last_word(k, code, k->exit.reason);
}

void run_signal(struct keeper *k, int number) {
	struct message order = {.kind = MESSAGE_SIGNAL, .value = number};
	if (k->control >= 0) message_send(k->control, &order, NULL);
}

void run_terminate(struct keeper *k) {
	if (k->state == RUN_WAITING) run_end(k, NULL, "terminated");
	else if (k->state == RUN_RUNNING) run_signal(k, SIGTERM);
}

void run_go(struct keeper *k) {
	if (k->state != RUN_WAITING) return;
	k->exit.started_at_ms = wall_now_ms();
	k->state = RUN_RUNNING;
	k->go_at = UINT64_MAX;
	uint64_t now = now_ms();
	const struct limit_spec *limits = &k->spec.limits;
	if (limits->wall_ms) k->wall_at = now + limits->wall_ms;
	bool watched = limits->cpu_seconds || (limits->memory_bytes && !cgroups_hold(&k->cgroups, true)) || (limits->max_processes && !cgroups_hold(&k->cgroups, false));
	if (watched) k->watch_at = now + WATCH_MS;
	if (!write_all(k->gate, "g", 1)) {
		char reason[64];
		snprintf(reason, sizeof reason, "setup:gate:%s", errno_name(errno));
		k->exit.started_at_ms = 0;
		set_reason(k, reason);
	}
	close(k->gate);
	k->gate = -1;
	if (!record_reserve(k)) run_lost(k, "disk", errno);
}

static void on_status(struct keeper *k, void *context, short events) {
	struct report report;
	(void)context;
	(void)events;
	if (k->status < 0) return;
	// Closed by exec, or a report of why there was none; without either nobody knows what runs.
	ssize_t n = read_full(k->status, &report, sizeof report);
	if (n != 0) {
		char reason[160];
		bool whole = n == (ssize_t)sizeof report;
		k->exec_failed = true;
		snprintf(reason, sizeof reason, "%s:%s", whole ? report.step : "setup:status", errno_name(whole ? report.error : errno));
		set_reason(k, reason);
		if (!whole) run_end(k, NULL, reason);
	}
	close(k->status);
	k->status = -1;
}

// Which bound ended the program, from how it ended and from the kernel's counters.
static const char *limit_hit(const struct keeper *k, const struct message *ended) {
	int signal = k->exit.signal;
	uint64_t cpu_ms = ended->user_ms + ended->system_ms;
	if (signal == SIGXFSZ) return "file";
	if (signal == SIGXCPU || (signal == SIGKILL && k->spec.limits.cpu_seconds && cpu_ms >= k->spec.limits.cpu_seconds * 1000)) return "cpu";
	if ((signal || k->exit.code > 0) && cgroups_hit_memory(&k->cgroups)) return "memory";
	if ((signal || k->exit.code > 0) && cgroups_hit_processes(&k->cgroups)) return "processes";
	return NULL;
}

static void finalize(struct keeper *k) {
	k->inner_gone = true;
	k->inner_at = UINT64_MAX;
	if (k->control >= 0) close(k->control);
	k->control = -1;
	if (k->status >= 0) on_status(k, NULL, 0);
	if (!k->exit.ended_at_ms) k->exit.ended_at_ms = wall_now_ms();
	spool_drain(k);
	input_settle(k);
	reach_settle(k);
	front_close(k);
	cgroups_remove(&k->cgroups);
	if (k->terminal >= 0) close(k->terminal);
	k->terminal = -1;
	if (!record_exit(k)) {
		run_lost(k, "disk", errno);
		k->leave = true;
		k->leave_code = EXIT_LOST;
		k->exit_lost = true;
	}
	fault_point("exit-final");
	k->state = RUN_ENDED;
	k->wall_at = k->go_at = k->watch_at = UINT64_MAX;
	k->release_at = now_ms() + k->spec.release_timeout_ms;
}

static void on_program_end(struct keeper *k, const struct message *message) {
	k->program_ended = true;
	if (k->status >= 0 && k->exit.started_at_ms) on_status(k, NULL, 0);
	bool ran = k->exit.started_at_ms && !k->exec_failed;
	k->exit.code = ran && WIFEXITED(message->value) ? WEXITSTATUS(message->value) : -1;
	k->exit.signal = ran && WIFSIGNALED(message->value) ? WTERMSIG(message->value) : 0;
	k->exit.ended_at_ms = wall_now_ms();
	k->exit.user_ms = message->user_ms;
	k->exit.system_ms = message->system_ms;
	k->exit.max_rss_bytes = message->max_rss_bytes;
	if (ran && !k->exit.reason[0] && (k->exit.limit = limit_hit(k, message))) {
		char reason[32];
		snprintf(reason, sizeof reason, "limit:%s", k->exit.limit);
		set_reason(k, reason);
	}
	if (!ran && k->state == RUN_RUNNING) set_reason(k, "tree-lost"); // it ended before its exec, and could not say why
	bool ending = k->state == RUN_ENDING; // then the order is out already
	k->state = RUN_ENDING;
	fault_point("program-ended");
	if (message->more && !record_exit(k)) run_lost(k, "disk", errno);
	if (!ending) order_end(k);
}

// The inner process died without having ended the rest: this process is the next subreaper.
static void on_inner_lost(struct keeper *k) {
	if (k->inner_gone) return;
	kill(k->inner_pid, SIGKILL);
	tree_end(k->program_group);
	struct rusage usage;
	if (!k->program_ended && getrusage(RUSAGE_CHILDREN, &usage) == 0) {
		k->exit.user_ms = (uint64_t)usage.ru_utime.tv_sec * 1000 + (uint64_t)usage.ru_utime.tv_usec / 1000;
		k->exit.system_ms = (uint64_t)usage.ru_stime.tv_sec * 1000 + (uint64_t)usage.ru_stime.tv_usec / 1000;
		k->exit.max_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;
		if (k->exit.started_at_ms) k->exit.signal = SIGKILL;
		set_reason(k, "tree-lost");
	}
	finalize(k);
}

static void on_control(struct keeper *k, void *context, short events) {
	struct message message;
	int passed[2] = {-1, -1}, count = 0;
	(void)context;
	(void)events;
	if (k->control < 0) return;
	ssize_t n = system_receive(k->control, &message, sizeof message, MSG_DONTWAIT, passed, &count);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
	if (n != (ssize_t)sizeof message) on_inner_lost(k);
	else if (message.kind == MESSAGE_REACHED) reach_answer(k, &message, passed[0]);
	else if (message.kind == MESSAGE_STARTED) k->program_group = message.value;
	else if (message.kind == MESSAGE_EXIT) on_program_end(k, &message);
	else if (message.kind == MESSAGE_GONE) {
		if (message.user_ms + message.system_ms > k->exit.user_ms + k->exit.system_ms) k->exit.user_ms = message.user_ms, k->exit.system_ms = message.system_ms;
		if (message.max_rss_bytes > k->exit.max_rss_bytes) k->exit.max_rss_bytes = message.max_rss_bytes;
		finalize(k);
	}
}

static void on_signal(struct keeper *k, void *context, short events) {
	int number = 0;
	(void)events;
	while (system_next_signal(*(int *)context, &number)) {
		if (number != SIGTERM) continue;
		run_end(k, NULL, "keeper-terminated");
		k->leave = true; // as soon as the end is recorded
	}
	while (waitpid(-1, NULL, WNOHANG) > 0) continue;
}

static void watch(struct keeper *k, uint64_t now) {
	const struct limit_spec *limits = &k->spec.limits;
	struct tree_usage usage = tree_usage(k->inner_pid);
	k->watch_at = now + WATCH_MS;
	if (limits->cpu_seconds && usage.cpu_ms >= limits->cpu_seconds * 1000 + 500) run_end(k, "cpu", "limit:cpu");
	else if (limits->memory_bytes && usage.private_bytes > limits->memory_bytes) run_end(k, "memory", "limit:memory");
	else if (limits->max_processes && usage.processes > limits->max_processes + (k->spec.wrapper_count ? 1 : 0)) // its own first process is one of them
		 run_end(k, "processes", "limit:processes");
}

static void check_dir(struct keeper *k, uint64_t now) {
	struct stat stat_of;
	k->check_at = now + CHECK_MS;
	if (k->leave || fstatat(k->dir_fd, "sock", &stat_of, AT_SYMLINK_NOFOLLOW) == 0) return;
	run_lost(k, "dir-gone", 0);
	k->leave = true;
	k->leave_code = EXIT_LOST;
}

static void on_time(struct keeper *k) {
	uint64_t now = now_ms();
	if (now >= k->go_at) {
		k->go_at = UINT64_MAX;
		k->leave = true;
		k->leave_code = EXIT_NO_GO;
		run_end(k, NULL, "go-timeout");
	}
	if (now >= k->wall_at) {
		k->wall_at = UINT64_MAX;
		run_end(k, "wall", "limit:wall");
	}
	if (k->state != RUN_RUNNING) k->watch_at = UINT64_MAX;
	else if (now >= k->watch_at) watch(k, now);
	if (now >= k->inner_at) on_inner_lost(k);
	if (now >= k->check_at) check_dir(k, now);
	if (now >= k->release_at) k->leave = true;
}

static void wait_and_serve(struct keeper *k, int *signals) {
	struct poll_set *p = &k->poll;
	uint64_t deadlines[] = {k->go_at, k->wall_at, k->release_at, k->check_at, k->watch_at, k->inner_at};
	p->count = 0;
	p->wake_at = UINT64_MAX;
	for (size_t i = 0; i < sizeof deadlines / sizeof *deadlines; i++) poll_wake_at(k, deadlines[i]);
	poll_add(k, *signals, POLLIN, on_signal, signals);
	if (k->exit.started_at_ms) poll_add(k, k->status, POLLIN, on_status, NULL);
	spool_poll(k);
	poll_add(k, k->control, POLLIN, on_control, NULL);
	input_poll(k);
	front_poll(k);
	reach_poll(k);
	viewer_poll(k);
	uint64_t now = now_ms(), wait = p->wake_at > now ? p->wake_at - now : 0;
	int ready = poll(p->fds, (nfds_t)p->count, wait > 60000 ? 60000 : (int)wait);
	for (int i = 0; ready > 0 && i < p->count; i++)
		if (p->fds[i].revents) p->calls[i].handler(k, p->calls[i].context, p->fds[i].revents);
	on_time(k);
	viewer_tell_changes(k);
	front_sweep(k);
	viewer_sweep(k);
}

int run_loop(struct keeper *k) {
	sigset_t mask;
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigaddset(&mask, SIGTERM);
	int signals = system_signals(&mask);
	if (signals < 0) return EXIT_LOST;
	while (!(k->leave && k->state == RUN_ENDED)) wait_and_serve(k, &signals);
	viewer_tell_changes(k);
	viewer_last_word(k, NULL, NULL);
	unlinkat(k->dir_fd, "sock", 0);
	unlinkat(k->dir_fd, "exit.tmp", 0);
	return k->leave_code;
}
