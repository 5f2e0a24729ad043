// The starter: starts short commands for a node that has grown too large to fork itself. See WIRE.md, "Starter".
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "frame.h"
#include "keeper.h"
#include "start.h"

enum { ASK_START = 1, ASK_INPUT, ASK_CLOSE_INPUT, ASK_KILL, ASK_CREDIT, ASK_RELEASE };
enum { SAY_STARTED = 0x80, SAY_REFUSED, SAY_OUTPUT, SAY_EOF, SAY_EXIT, SAY_ROOM, SAY_INPUT_ENDED };
enum { HEAD = FRAME_HEADER + 4, MAX_START = 4 << 20, INPUT_WINDOW = 64 << 10, OUTPUT_WINDOW = 256 << 10 };
enum { PIECE = 64 << 10, OUT_ROOM = 256 << 10, SMALL_FRAME = 32, IN_KEPT = 128 << 10 };

struct command {
	struct command *next;
	uint32_t id;
	pid_t pid;
	bool lives_on, exited;
	int in, out[STREAM_COUNT]; // our ends; -1 when closed
	uint32_t credit[STREAM_COUNT]; // what the node takes before it says more
	uint8_t *input; // INPUT_WINDOW; NULL when nothing waits
	uint32_t input_at, input_end;
	bool input_closing;
};

struct starter {
	struct command *commands;
	uint8_t *in;
	size_t in_size, in_room;
	uint8_t *out; // OUT_ROOM
	size_t out_start, out_end;
	int null, children;
	bool look; // some child has ended
	bool over; // the node is gone or says what no node says
};

static void close_one(int *fd) {
	if (*fd >= 0) close(*fd);
	*fd = -1;
}

static bool has_room(struct starter *s, size_t size) {
	if (s->out_start > 0 && s->out_end + size > OUT_ROOM) {
		memmove(s->out, s->out + s->out_start, s->out_end - s->out_start);
		s->out_end -= s->out_start;
		s->out_start = 0;
	}
	return s->out_end + size <= OUT_ROOM;
}

// Callers asked for room before.
static uint8_t *say(struct starter *s, uint8_t type, uint32_t id, uint32_t size) {
	uint8_t *at = s->out + s->out_end;
	put_u32(at, size + 4);
	at[4] = type;
	put_u32(at + FRAME_HEADER, id);
	s->out_end += HEAD + size;
	return at + HEAD;
}

static void flush(struct starter *s) {
	while (s->out_start < s->out_end) {
		ssize_t n = write(STDOUT_FILENO, s->out + s->out_start, s->out_end - s->out_start);
		if (n < 0 && errno == EINTR) continue;
		if (n < 0) {
			s->over = s->over || errno != EAGAIN;
			return;
		}
		s->out_start += (size_t)n;
	}
	s->out_start = s->out_end = 0;
}

static void drop(struct command *c) {
	close_one(&c->in);
	for (int i = 0; i < STREAM_COUNT; i++) close_one(&c->out[i]);
	free(c->input);
	free(c);
}

static void on_start(struct starter *s, uint32_t id, uint8_t *payload, size_t size) {
	struct command *c = calloc(1, sizeof *c);
	struct start start;
	if (!c || !start_parse(&start, payload, size)) {
		free(c);
		s->over = true;
		return;
	}
	*c = (struct command){.next = s->commands, .id = id, .lives_on = start.lives_on, .credit = {OUTPUT_WINDOW, OUTPUT_WINDOW}};
	int failure = start_execute(&start, s->null);
	c->pid = start.pid;
	c->in = start.in;
	memcpy(c->out, start.out, sizeof c->out);
	put_u32(say(s, failure ? SAY_REFUSED : SAY_STARTED, id, 4), failure ? (uint32_t)failure : (uint32_t)c->pid);
	free(start.argv);
	system_wipe(payload, size); // environments hold what nobody else should find in our memory
	if (failure) drop(c);
	else s->commands = c;
}

static void take_input(struct starter *s, struct command *c, const uint8_t *bytes, size_t size) {
	if (c->in < 0) return; // it was told, or will find out
	if (!c->input && !(c->input = malloc(INPUT_WINDOW))) s->over = true;
	if (size > INPUT_WINDOW - c->input_end || c->input_closing) s->over = true;
	if (s->over) return;
	memcpy(c->input + c->input_end, bytes, size);
	c->input_end += (uint32_t)size;
}

static void serve(struct starter *s, uint8_t type, uint8_t *payload, size_t size) {
	uint32_t id = get_u32(payload);
	struct command *c = s->commands;
	payload += 4;
	size -= 4;
	while (c && c->id != id) c = c->next;
	if (type == ASK_START && !c) on_start(s, id, payload, size);
	else if (type < ASK_INPUT || type > ASK_RELEASE || (type == ASK_CREDIT && (size != 5 || payload[0] >= STREAM_COUNT))) s->over = true;
	else if (!c) return; // it has ended meanwhile
	else if (type == ASK_INPUT) take_input(s, c, payload, size);
	else if (type == ASK_CLOSE_INPUT && c->input) c->input_closing = true;
	else if (type == ASK_CLOSE_INPUT) close_one(&c->in);
	else if (type == ASK_KILL) kill(-c->pid, SIGKILL); // not yet waited for: the number is still its own
	else if (type == ASK_CREDIT) c->credit[payload[0]] += get_u32(payload + 1);
	else {
		close_one(&c->in);
		for (int i = 0; i < STREAM_COUNT; i++) close_one(&c->out[i]);
	}
}

static void serve_frames(struct starter *s) {
	size_t at = 0;
	while (!s->over && s->in_size - at >= FRAME_HEADER && has_room(s, SMALL_FRAME)) {
		size_t size = get_u32(s->in + at), most = s->in[at + 4] == ASK_START ? MAX_START : INPUT_WINDOW + 4;
		s->over = size < 4 || size > most;
		if (s->over || s->in_size - at < FRAME_HEADER + size) break;
		serve(s, s->in[at + 4], s->in + at + FRAME_HEADER, size);
		at += FRAME_HEADER + size;
	}
	if (at > 0) memmove(s->in, s->in + at, s->in_size - at);
	s->in_size -= at;
	if (s->in_size == 0 && s->in_room > IN_KEPT) {
		free(s->in);
		s->in = NULL;
		s->in_room = 0;
	}
}

static void read_node(struct starter *s) {
	if (s->in_room - s->in_size < 4096) {
		size_t room = s->in_room ? s->in_room * 2 : 32 << 10;
		uint8_t *in = realloc(s->in, room);
		s->over = !in;
		if (!in) return;
		s->in = in;
		s->in_room = room;
	}
	ssize_t n = read(STDIN_FILENO, s->in + s->in_size, s->in_room - s->in_size);
	if (n > 0) s->in_size += (size_t)n;
	else s->over = n == 0 || (errno != EAGAIN && errno != EINTR);
}

static void read_output(struct starter *s, struct command *c, int stream) {
	if (!has_room(s, HEAD + 1 + PIECE)) return;
	size_t most = c->credit[stream] < PIECE ? c->credit[stream] : PIECE;
	ssize_t n = read(c->out[stream], s->out + s->out_end + HEAD + 1, most);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
	if (n > 0) c->credit[stream] -= (uint32_t)n;
	else close_one(&c->out[stream]);
	say(s, n > 0 ? SAY_OUTPUT : SAY_EOF, c->id, n > 0 ? 1 + (uint32_t)n : 1)[0] = (uint8_t)stream;
}

// Writes what waits; `gone`: nobody will read it.
static void write_input(struct starter *s, struct command *c, bool gone) {
	if (!has_room(s, SMALL_FRAME)) return;
	ssize_t n = gone || c->input_at == c->input_end ? 0 : write(c->in, c->input + c->input_at, c->input_end - c->input_at);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
	if (gone || n < 0) {
		say(s, SAY_INPUT_ENDED, c->id, 0);
		close_one(&c->in);
	} else if (n > 0 && (c->input_at += (uint32_t)n) == c->input_end) { // told when all of it is written, so that the buffer is never moved
		put_u32(say(s, SAY_ROOM, c->id, 4), c->input_end);
		c->input_at = c->input_end = 0;
		free(c->input);
		c->input = NULL;
	}
	if (c->input_closing && c->input_at == c->input_end) close_one(&c->in);
}

// A command stays a zombie until its pipes have ended too, so that its group can be ended by number for as long as it lasts.
static void sweep(struct starter *s) {
	bool look = s->look;
	s->look = false;
	for (struct command **at = &s->commands; *at;) {
		struct command *c = *at;
		siginfo_t ended = {0};
		if (look && !c->exited && !has_room(s, SMALL_FRAME)) s->look = true;
		else if (look && !c->exited && waitid(P_PID, (id_t)c->pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == c->pid) {
			uint8_t *body = say(s, SAY_EXIT, c->id, 8);
			put_u32(body, ended.si_code == CLD_EXITED ? (uint32_t)ended.si_status : UINT32_MAX);
			put_u32(body + 4, ended.si_code == CLD_EXITED ? 0 : (uint32_t)ended.si_status);
			c->exited = true;
		}
		if (c->exited && c->out[STREAM_STDOUT] < 0 && c->out[STREAM_STDERR] < 0) {
			waitpid(c->pid, NULL, 0);
			*at = c->next;
			drop(c);
		} else at = &c->next;
	}
}

enum { OWN_FDS = 3, COMMAND_FDS = 3 };

static struct pollfd *wait_for_work(struct starter *s) {
	size_t count = OWN_FDS;
	for (struct command *c = s->commands; c; c = c->next) count += COMMAND_FDS;
	struct pollfd *fds = calloc(count, sizeof *fds), *at = fds + OWN_FDS;
	if (!fds) return NULL;
	bool small = has_room(s, SMALL_FRAME), piece = has_room(s, HEAD + 1 + PIECE);
	fds[0] = (struct pollfd){.fd = small ? STDIN_FILENO : -1, .events = POLLIN};
	fds[1] = (struct pollfd){.fd = STDOUT_FILENO, .events = s->out_start < s->out_end ? POLLOUT : 0};
	fds[2] = (struct pollfd){.fd = small ? s->children : -1, .events = POLLIN};
	for (struct command *c = s->commands; c; c = c->next, at += COMMAND_FDS) {
		at[0] = (struct pollfd){.fd = small ? c->in : -1, .events = c->input_at < c->input_end || c->input_closing ? POLLOUT : 0};
		for (int i = 0; i < STREAM_COUNT; i++) at[i + 1] = (struct pollfd){.fd = piece && c->credit[i] ? c->out[i] : -1, .events = POLLIN};
	}
	while (poll(fds, (nfds_t)count, -1) < 0 && errno == EINTR) {}
	return fds;
}

static void work(struct starter *s) {
	struct pollfd *fds = wait_for_work(s), *at = fds + OWN_FDS;
	int ended = 0;
	s->over = s->over || !fds || (fds[1].revents & POLLERR);
	if (s->over) return free(fds);
	for (struct command *c = s->commands; c; c = c->next, at += COMMAND_FDS) {
		for (int i = 0; i < STREAM_COUNT; i++)
			if (at[i + 1].revents) read_output(s, c, i);
		if (at[0].revents) write_input(s, c, (at[0].revents & POLLERR) != 0);
	}
	if (fds[2].revents && system_next_signal(s->children, &ended)) s->look = true;
	if (fds[0].revents) read_node(s);
	serve_frames(s);
	sweep(s);
	flush(s);
	free(fds);
}

int command_starter(void) {
	static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE};
	struct starter s = {.out = malloc(OUT_ROOM), .null = open("/dev/null", O_RDWR | O_CLOEXEC)};
	sigset_t children;
	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
	s.children = system_signals(&children);
	if (!s.out || s.null <= STDERR_FILENO || s.children < 0 || !set_nonblocking(STDIN_FILENO) || !set_nonblocking(STDOUT_FILENO)) return EXIT_REFUSED;
	while (!s.over) work(&s);
	for (struct command *c = s.commands; c; c = c->next)
		if (!c->lives_on) kill(-c->pid, SIGKILL);
	return EXIT_FINISHED;
}
