// A Unix socket here whose connections end at a node elsewhere: all of them over one stdin and stdout. See WIRE.md, "Relay".
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "commands.h"
#include "keeper.h"
#include "relay_frame.h"

enum { MAX_LINKS = 256, IN_ROOM = RELAY_HEAD + RELAY_PIECE, OUT_ROOM = 1 << 20, LOOK_MS = 500, READY_SIZE = 12, NAME_ROOM = 64 };
// Connections that were made and not taken yet: as many as may be open, and more, so that a burst is not turned away (EAGAIN).
enum { WAITING = 1024 };

struct link {
	struct link *next;
	uint32_t id;
	int fd;
	bool closed, read_ended, write_ended; // read: of the program's bytes; write: END came and is passed on when `bytes` are out
	bool end_came;
	uint32_t credit;  // bytes the node takes from here
	uint32_t granted; // bytes the node may still send
	uint8_t *bytes;   // for the program; RELAY_WINDOW_BYTES, made when needed
	uint32_t start, end;
};

struct relay {
	int listener;
	struct stat listens; // what its own socket is, to know it from a successor's
	char name[NAME_ROOM * 2];
	struct link *links;
	int count;
	uint32_t last_id;
	uint8_t in[IN_ROOM];
	size_t in_size;
	uint8_t *out; // OUT_ROOM
	size_t out_start, out_end;
	uint64_t look_at, silent_at, silence_ms;
	bool over;
};

static volatile sig_atomic_t asked_to_leave;
static void on_signal(int number) { (void)number, asked_to_leave = 1; }

static bool has_room(struct relay *r, size_t size) {
	if (r->out_start > 0 && r->out_end + size > OUT_ROOM) {
		memmove(r->out, r->out + r->out_start, r->out_end - r->out_start);
		r->out_end -= r->out_start;
		r->out_start = 0;
	}
	return r->out_end + size <= OUT_ROOM;
}

// Room for the largest piece and the few small frames that each connection may owe.
static bool takes_more(const struct relay *r) { return r->out_end - r->out_start < OUT_ROOM - (2 * IN_ROOM + MAX_LINKS * 64); }

static uint8_t *say(struct relay *r, enum relay_type type, uint32_t id, size_t size) {
	if (!has_room(r, RELAY_HEAD + size)) { // a node that does not read what it asks for
		r->over = true;
		return NULL;
	}
	uint8_t *at = r->out + r->out_end;
	put_u32(at, (uint32_t)size + 4);
	at[4] = (uint8_t)type;
	put_u32(at + FRAME_HEADER, id);
	r->out_end += RELAY_HEAD + size;
	return at + RELAY_HEAD;
}

static void flush(struct relay *r) {
	while (r->out_start < r->out_end) {
		ssize_t n = write(STDOUT_FILENO, r->out + r->out_start, r->out_end - r->out_start);
		if (n < 0 && errno == EINTR) continue;
		if (n < 0) {
			r->over = r->over || errno != EAGAIN;
			return;
		}
		r->out_start += (size_t)n;
	}
	r->out_start = r->out_end = 0;
}

static void close_link(struct relay *r, struct link *link) {
	if (link->closed) return;
	link->closed = true;
	close(link->fd);
	r->count--;
}

static void reset(struct relay *r, struct link *link) {
	if (!link->closed) say(r, RELAY_RESET, link->id, 0);
	close_link(r, link);
}

static void close_when_done(struct relay *r, struct link *link) {
	if (link->read_ended && link->write_ended) close_link(r, link);
}

// Passes on what waits for the program, and its end; gives the node as much again.
static void write_link(struct relay *r, struct link *link) {
	uint32_t written = 0;
	while (link->start < link->end) {
		ssize_t n = send(link->fd, link->bytes + link->start, link->end - link->start, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR) continue;
		if (n < 0 && errno == EAGAIN) break;
		if (n < 0) {
			reset(r, link);
			return;
		}
		link->start += (uint32_t)n;
		written += (uint32_t)n;
	}
	if (link->start == link->end) link->start = link->end = 0;
	if (written > 0 && !link->end_came) {
		uint8_t *at = say(r, RELAY_WINDOW, link->id, 4);
		if (at) put_u32(at, written);
		link->granted += written;
	}
	if (link->end_came && link->end == 0 && !link->write_ended) {
		shutdown(link->fd, SHUT_WR);
		link->write_ended = true;
	}
	close_when_done(r, link);
}

static void read_link(struct relay *r, struct link *link) {
	uint8_t bytes[RELAY_PIECE];
	size_t most = link->credit < sizeof bytes ? link->credit : sizeof bytes;
	ssize_t n = recv(link->fd, bytes, most, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
	if (n < 0) {
		reset(r, link);
		return;
	}
	uint8_t *at = say(r, n > 0 ? RELAY_DATA : RELAY_END, link->id, (size_t)n);
	if (at && n > 0) memcpy(at, bytes, (size_t)n);
	link->credit -= (uint32_t)n;
	if (n == 0) link->read_ended = true;
	close_when_done(r, link);
}

static struct link *find(struct relay *r, uint32_t id) {
	struct link *link = r->links;
	while (link && (link->id != id || link->closed)) link = link->next;
	return link;
}

static void take_bytes(struct relay *r, struct link *link, const struct relay_frame *frame) {
	if (!link->bytes && !(link->bytes = malloc(RELAY_WINDOW_BYTES))) {
		reset(r, link);
		return;
	}
	if (link->start > 0) {
		memmove(link->bytes, link->bytes + link->start, link->end - link->start);
		link->end -= link->start;
		link->start = 0;
	}
	memcpy(link->bytes + link->end, frame->bytes, frame->size);
	link->end += frame->size;
	link->granted -= frame->size;
	write_link(r, link);
}

static void serve(struct relay *r, const struct relay_frame *frame) {
	struct link *link = find(r, frame->id);
	if (frame->type == RELAY_PING) {
		uint8_t *at = say(r, RELAY_PONG, 0, frame->size);
		if (at && frame->size) memcpy(at, frame->bytes, frame->size);
		return;
	}
	if (frame->type == RELAY_PONG) return;
	if (frame->id > r->last_id) r->over = true; // never opened
	if (!link) return; // it has ended here meanwhile
	switch (frame->type) {
	case RELAY_DATA:
		if (frame->size > link->granted || link->end_came) r->over = true;
		else take_bytes(r, link, frame);
		break;
	case RELAY_END:
		link->end_came = true;
		write_link(r, link);
		break;
	case RELAY_RESET: close_link(r, link); break;
	case RELAY_WINDOW:
		if (frame->window > RELAY_WINDOW_BYTES - link->credit) r->over = true;
		else link->credit += frame->window;
		break;
	case RELAY_OPEN: case RELAY_PING: case RELAY_PONG: case RELAY_READY: break;
	}
}

static void read_node(struct relay *r) {
	ssize_t n = read(STDIN_FILENO, r->in + r->in_size, sizeof r->in - r->in_size);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
	if (n <= 0) r->over = true;
	if (r->over) return;
	r->in_size += (size_t)n;
	r->silent_at = r->silence_ms ? now_ms() + r->silence_ms : UINT64_MAX;
	struct relay_frame frame;
	size_t at = 0, used = 0;
	enum relay_parsed parsed = RELAY_PART;
	while (!r->over && (parsed = relay_parse(r->in + at, r->in_size - at, &frame, &used)) == RELAY_WHOLE) {
		serve(r, &frame);
		at += used;
	}
	if (parsed == RELAY_BROKEN) r->over = true;
	memmove(r->in, r->in + at, r->in_size - at);
	r->in_size -= at;
}

static void accept_one(struct relay *r) {
	int fd = accept(r->listener, NULL, NULL);
	if (fd < 0) return;
	struct link *link = fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && set_nonblocking(fd) ? calloc(1, sizeof *link) : NULL;
	if (!link) {
		close(fd);
		return;
	}
	*link = (struct link){.next = r->links, .id = ++r->last_id, .fd = fd, .credit = RELAY_WINDOW_BYTES, .granted = RELAY_WINDOW_BYTES};
	r->links = link;
	r->count++;
	say(r, RELAY_OPEN, link->id, 0);
}

static void sweep(struct relay *r) {
	for (struct link **at = &r->links; *at;) {
		struct link *link = *at;
		if (!link->closed) {
			at = &link->next;
			continue;
		}
		*at = link->next;
		free(link->bytes);
		free(link);
	}
}

static bool is_mine(const struct relay *r) {
	struct stat now;
	return lstat(r->name, &now) == 0 && now.st_ino == r->listens.st_ino && now.st_dev == r->listens.st_dev;
}

// Waits for something and serves it. The order of descriptors: stdin, stdout, the listener, then the connections.
static void turn(struct relay *r) {
	struct pollfd fds[3 + MAX_LINKS];
	struct link *at[MAX_LINKS];
	bool more = takes_more(r);
	int count = 0;
	fds[0] = (struct pollfd){.fd = STDIN_FILENO, .events = (short)(more ? POLLIN : 0)};
	fds[1] = (struct pollfd){.fd = STDOUT_FILENO, .events = (short)(r->out_start < r->out_end ? POLLOUT : 0)};
	fds[2] = (struct pollfd){.fd = r->count < MAX_LINKS && more && r->last_id < UINT32_MAX ? r->listener : -1, .events = POLLIN};
	for (struct link *link = r->links; link; link = link->next) {
		short events = (short)((more && !link->read_ended && link->credit > 0 ? POLLIN : 0) | (link->start < link->end ? POLLOUT : 0));
		// Without anything to wait for, the end of the other side would wake this up again and again.
		fds[3 + count] = (struct pollfd){.fd = events ? link->fd : -1, .events = events};
		at[count++] = link;
	}
	if (poll(fds, (nfds_t)(3 + count), LOOK_MS) < 0) return;
	for (int i = 0; i < count && !r->over; i++) {
		if (fds[3 + i].revents & (POLLOUT | POLLERR | POLLHUP) && at[i]->start < at[i]->end && !at[i]->closed) write_link(r, at[i]);
		if (fds[3 + i].revents & (POLLIN | POLLERR | POLLHUP) && (fds[3 + i].events & POLLIN) && !at[i]->closed && takes_more(r)) read_link(r, at[i]);
	}
	if (fds[2].revents) accept_one(r);
	if (fds[0].revents) read_node(r);
	if (fds[1].revents & (POLLERR | POLLNVAL)) r->over = true;
	flush(r);
	sweep(r);
}

// Under a name of its own first: at no time is there no socket, and a predecessor's is simply replaced.
static bool listen_at(struct relay *r, const char *path, mode_t mode) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
	const char *name = slash ? slash + 1 : path;
	if (!folder || !*name || strlen(name) >= NAME_ROOM) {
		errno = ENAMETOOLONG;
		return false;
	}
	snprintf(r->name, sizeof r->name, "%s", name);
	snprintf(address.sun_path, sizeof address.sun_path, ".%.60s.%ld", r->name, (long)getpid());
	if (slash) *slash = 0;
	bool there = !slash || chdir(slash == folder ? "/" : folder) == 0;
	free(folder);
	if (!there) return false;
	r->listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (r->listener < 0 || fcntl(r->listener, F_SETFD, FD_CLOEXEC) != 0 || !set_nonblocking(r->listener)) return false;
	umask(0177); // never wider than asked for, not even for a moment
	unlink(address.sun_path);
	if (bind(r->listener, (struct sockaddr *)&address, sizeof address) != 0) return false;
	if (chmod(address.sun_path, mode) == 0 && listen(r->listener, WAITING) == 0 && lstat(address.sun_path, &r->listens) == 0 && rename(address.sun_path, r->name) == 0) return true;
	int failure = errno;
	unlink(address.sun_path);
	errno = failure;
	return false;
}

static void run(struct relay *r) {
	uint8_t *ready = say(r, RELAY_READY, 0, READY_SIZE);
	if (ready) put_u32(ready, 1), put_u32(ready + 4, RELAY_WINDOW_BYTES), put_u32(ready + 8, MAX_LINKS);
	flush(r);
	r->look_at = now_ms() + LOOK_MS;
	r->silent_at = r->silence_ms ? now_ms() + r->silence_ms : UINT64_MAX;
	while (!r->over && !asked_to_leave) {
		turn(r);
		uint64_t now = now_ms();
		if (now >= r->silent_at) break;
		if (now < r->look_at) continue;
		r->look_at = now + LOOK_MS;
		if (!is_mine(r)) break; // a successor serves the node now
	}
	if (is_mine(r)) unlink(r->name);
	while (r->links) {
		for (struct link *link = r->links; link; link = link->next) close_link(r, link);
		sweep(r);
	}
}

int command_relay(int count, char **words) {
	struct option options[] = {{.name = "--listen"}, {.name = "--mode"}, {.name = "--silence-ms"}};
	static char dot[] = "."; // the path comes as an option
	uint64_t mode = 0600;
	const char *ignored;
	char **all = calloc((size_t)count + 2, sizeof *all);
	struct relay *r = calloc(1, sizeof *r);
	if (!all || !r || !(r->out = malloc(OUT_ROOM))) return fail_errno("relay");
	memcpy(all, words, (size_t)count * sizeof *all);
	all[count] = dot;
	if (!take_words(count + 1, all, &ignored, options, sizeof options / sizeof *options)) return EXIT_USAGE;
	if (!options[0].value || !*options[0].value) return usage("relay needs --listen SOCKET");
	if (options[1].value && !parse_number(options[1].value, 8, 0777, &mode)) return usage("a mode is octal, at most 777");
	if (options[2].value && !parse_number(options[2].value, 10, UINT32_MAX, &r->silence_ms)) return usage("--silence-ms is a number");
	const int leaving[] = {SIGTERM, SIGINT, SIGHUP};
	for (size_t i = 0; i < sizeof leaving / sizeof *leaving; i++) sigaction(leaving[i], &(struct sigaction){.sa_handler = on_signal}, NULL);
	signal(SIGPIPE, SIG_IGN);
	if (!listen_at(r, options[0].value, (mode_t)mode)) return fail_errno(options[0].value);
	if (!set_nonblocking(STDIN_FILENO) || !set_nonblocking(STDOUT_FILENO)) r->over = true;
	run(r);
	return 0;
}
