#include "inner.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "confine.h"
#include "front.h"
#include "system.h"
#include "text.h"
#include "tree.h"

bool message_send(int fd, const struct message *message, const int passed[MAX_PASSED]) {
	struct iovec part = {.iov_base = (void *)(uintptr_t)message, .iov_len = sizeof *message};
	union { struct cmsghdr header; char room[CMSG_SPACE(MAX_PASSED * sizeof(int))]; } control = {0};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
	int fds[MAX_PASSED];
	size_t count = 0;
	for (size_t i = 0; passed && i < MAX_PASSED; i++)
		if (passed[i] >= 0) fds[count++] = passed[i];
	if (count > 0) {
		header.msg_control = control.room;
		header.msg_controllen = (socklen_t)CMSG_SPACE(count * sizeof(int));
		struct cmsghdr *c = CMSG_FIRSTHDR(&header);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = (socklen_t)CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(c), fds, count * sizeof(int));
	}
	ssize_t n;
	do n = sendmsg(fd, &header, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof *message;
}

static uint64_t timeval_ms(struct timeval t) { return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_usec / 1000; }

static void put_usage(struct message *message, const struct rusage *usage) {
	message->user_ms = timeval_ms(usage->ru_utime);
	message->system_ms = timeval_ms(usage->ru_stime);
	message->max_rss_bytes = (uint64_t)usage->ru_maxrss * 1024;
}

// Everything that is left of the run, except this process.
static void end_rest(bool pid_ns, int program) {
	if (!pid_ns) {
		tree_end(program);
		return;
	}
	for (;;) {
		kill(-1, SIGKILL);
		pid_t pid;
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0);
		if (pid < 0 && errno == ECHILD) return;
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
}

struct watch {
	int control, program;
	bool program_ended, pid_ns;
};

// False when a message could not be told: the keeper is gone.
static bool reap(struct watch *watch) {
	for (;;) {
		int status = 0;
		struct rusage usage = {0};
		pid_t pid = system_wait(&status, &usage);
		if (pid <= 0) return true;
		if (pid != watch->program || watch->program_ended) continue;
		watch->program_ended = true;
		siginfo_t left = {0};
		struct message message = {.kind = MESSAGE_EXIT, .value = status};
		message.more = !(waitid(P_ALL, 0, &left, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD);
		put_usage(&message, &usage);
		if (!message_send(watch->control, &message, NULL)) return false;
	}
}

// Connects where the program's listeners are. The keeper, outside, waits for it.
static bool reach(const struct watch *watch, const struct message *order) {
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)order->value), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct message answer = {.kind = MESSAGE_REACHED, .ticket = order->ticket};
	int fd = system_socket(AF_INET), passed[MAX_PASSED] = {fd, -1};
	if (fd < 0 || (connect(fd, (struct sockaddr *)&address, sizeof address) != 0 && errno != EINPROGRESS)) answer.value = errno;
	bool told = message_send(watch->control, &answer, answer.value ? NULL : passed);
	if (fd >= 0) close(fd);
	return told;
}

// One order of the keeper; false when this process is to end with everything.
static bool obey(struct watch *watch) {
	struct message order;
	ssize_t n = recv(watch->control, &order, sizeof order, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
	if (n != (ssize_t)sizeof order) return false;
	if (order.kind == MESSAGE_SIGNAL) {
		if (!watch->program_ended) kill(watch->program, order.value);
		return true;
	}
	if (order.kind == MESSAGE_REACH) return reach(watch, &order);
	if (!watch->program_ended) {
		kill(watch->program, SIGKILL);
		siginfo_t ignored;
		while (waitid(P_PID, (id_t)watch->program, &ignored, WEXITED | WNOWAIT) < 0 && errno == EINTR);
		if (!reap(watch)) return false;
	}
	end_rest(watch->pid_ns, watch->program);
	struct message gone = {.kind = MESSAGE_GONE};
	struct rusage usage = {0};
	getrusage(RUSAGE_CHILDREN, &usage);
	put_usage(&gone, &usage);
	message_send(watch->control, &gone, NULL);
	return false;
}

static void guard(struct watch *watch, int signals) {
	for (;;) {
		struct pollfd fds[2] = {{.fd = watch->control, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
		if (poll(fds, 2, -1) < 0 && errno != EINTR) return;
		int number = 0;
		if (fds[1].revents) system_next_signal(signals, &number);
		if (!reap(watch)) return;
		if (fds[0].revents && !obey(watch)) return;
	}
}

static void close_ends(const struct inner_ends *ends) {
	for (size_t i = 0; i < 3; i++) close(ends->stdio[i]);
	if (ends->terminal >= 0) close(ends->terminal);
	for (size_t i = 0; i < 2; i++)
		if (ends->cgroup_procs[i] >= 0) close(ends->cgroup_procs[i]);
	close(ends->gate);
	close(ends->status);
}

// A terminal of the run's own devpts instead of the machine's, whose name would mean nothing (or another one) inside.
// Puts the slave where the machine's was; answers the master, or -1 when the machine's stays.
static int take_own_terminal(const struct spec *spec, const struct inner_ends *ends, struct facts *facts) {
	if (spec->stdio != STDIO_PTY || !facts->own_terminals) return -1;
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	const char *name = master >= 0 && unlockpt(master) == 0 ? ptsname(master) : NULL;
	int slave = name ? open(name, O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
	facts->passes_terminal = slave >= 0 && system_replace(slave, ends->terminal);
	if (slave >= 0) close(slave);
	if (facts->passes_terminal) return master;
	if (master >= 0) close(master);
	return -1;
}

// Tells the keeper what the namespaces gave and hands over the front's listener and the terminal.
static bool tell_facts(const struct spec *spec, const struct inner_ends *ends, struct facts *facts) {
	int listener = -1;
	if (spec->front.port) {
		listener = front_listen((uint16_t)spec->front.port, !spec->confine || !spec->network_none);
		if (listener < 0) facts->front_error = errno;
	}
	int passed[MAX_PASSED] = {listener, take_own_terminal(spec, ends, facts)};
	struct message message = {.kind = MESSAGE_FACTS, .facts = *facts};
	bool told = message_send(ends->control, &message, passed);
	for (size_t i = 0; i < MAX_PASSED; i++)
		if (passed[i] >= 0) close(passed[i]);
	return told;
}

// The client's descriptors must not be held by the run: its pipe would never end.
static bool leave_streams(void) {
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	bool done = null >= 0;
	for (int fd = 0; done && fd < 3; fd++) done = dup2(null, fd) == fd;
	if (null > 2) close(null);
	return done;
}

void inner_main(const struct spec *spec, char **env, const struct inner_ends *ends, struct facts facts) {
	for (size_t i = 0; i < sizeof ends->keeper_ends / sizeof *ends->keeper_ends; i++)
		if (ends->keeper_ends[i] >= 0) close(ends->keeper_ends[i]);
	// In a pid namespace the kernel takes everything along with its first process; elsewhere the guard must live to do it.
	if (facts.pid_ns ? !system_die_with_parent() : !system_adopt_orphans()) _exit(1);
	if (!leave_streams() || chdir("/") != 0) _exit(1);
	confine_inside(spec, &facts);
	if (!system_hide_memory()) _exit(1);
	sigset_t mask;
	sigfillset(&mask);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	int signals = system_signals(&mask);
	if (signals < 0 || !tell_facts(spec, ends, &facts)) _exit(1);
	pid_t program = fork();
	if (program == 0) program_main(spec, env, ends, &facts);
	if (program < 0) {
		struct report report = {.kind = 'F', .error = errno, .step = "setup:fork"};
		write_all(ends->status, &report, sizeof report);
	}
	close_ends(ends);
	struct message started = {.kind = MESSAGE_STARTED, .value = program};
	if (program > 0 && message_send(ends->control, &started, NULL)) guard(&(struct watch){.control = ends->control, .program = program, .pid_ns = facts.pid_ns}, signals);
	end_rest(facts.pid_ns, program > 0 ? program : 0);
	_exit(0);
}
