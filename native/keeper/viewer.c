// Viewers: connections on DIR/sock. A view coming or going never touches the run.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "faults.h"
#include "frame.h"
#include "keeper.h"
#include "tree.h"

enum { MAX_VIEWERS = 128, MAX_PENDING = 64, OUT_LOW = 128 << 10, OUT_STOP = 1 << 20, LAST_WORD_MS = 2000 };

struct attachment { bool active; uint64_t offset; };
struct pending { enum request_type type; uint32_t tag; };
struct viewer {
	struct viewer *next;
	struct keeper *keeper;
	int fd;
	bool closed, paused;
	uint8_t *in;
	size_t in_size, in_room;
	uint8_t *out;
	size_t out_start, out_end, out_room;
	struct attachment attached[STREAM_COUNT];
	struct pending pending[MAX_PENDING];
	int pending_count;
};

static size_t out_size(const struct viewer *v) { return v->out_end - v->out_start; }

static void drop(struct viewer *v) {
	if (v->closed) return;
	v->closed = true;
	close(v->fd);
	input_forget_viewer(v->keeper, v);
	reach_forget_viewer(v->keeper, v);
}

static uint8_t *out_room(struct viewer *v, size_t size) {
	if (v->out_start == v->out_end) v->out_start = v->out_end = 0;
	if (v->out_end + size > v->out_room && v->out_start > 0) {
		memmove(v->out, v->out + v->out_start, out_size(v));
		v->out_end -= v->out_start;
		v->out_start = 0;
	}
	if (v->out_end + size > v->out_room) {
		size_t room = (v->out_end + size) * 2;
		uint8_t *out = realloc(v->out, room);
		if (!out) return NULL;
		v->out = out;
		v->out_room = room;
	}
	uint8_t *at = v->out + v->out_end;
	v->out_end += size;
	return at;
}

// A frame of a head and a body; both may be empty.
static void put_frame(struct viewer *v, uint8_t type, const void *head, size_t head_size, const void *body, size_t body_size) {
	if (v->closed) return;
	uint8_t *at = out_room(v, FRAME_HEADER + head_size + body_size);
	if (!at) {
		drop(v);
		return;
	}
	put_u32(at, (uint32_t)(head_size + body_size));
	at[4] = type;
	if (head_size) memcpy(at + FRAME_HEADER, head, head_size);
	if (body_size) memcpy(at + FRAME_HEADER + head_size, body, body_size);
}

// Half an answer is none: without the memory for it the connection ends, and is made again.
static void put_text(struct viewer *v, uint8_t type, const void *head, size_t head_size, const struct text *json) {
	if (json->failed) drop(v);
	else put_frame(v, type, head, head_size, json->bytes, json->size);
}

void answer_ok(struct viewer_tag to, const struct text *json) {
	uint8_t tag[4];
	put_u32(tag, to.tag);
	put_text(to.viewer, ANSWER_OK, tag, sizeof tag, json);
}

void answer_error(struct viewer_tag to, const char *code, const char *message) {
	uint8_t tag[4];
	struct text json = {0};
	put_u32(tag, to.tag);
	text_print(&json, "{\"code\":");
	text_json(&json, code);
	text_print(&json, ",\"message\":");
	text_json(&json, message);
	text_print(&json, "}");
	put_text(to.viewer, ANSWER_ERR, tag, sizeof tag, &json);
	text_free(&json);
}

static void ok(struct viewer *v, uint32_t tag) { answer_ok((struct viewer_tag){v, tag}, &(struct text){0}); }
static void error(struct viewer *v, uint32_t tag, const char *code, const char *message) { answer_error((struct viewer_tag){v, tag}, code, message); }

static void wait_for(struct viewer *v, const struct request *r) {
	if (v->pending_count == MAX_PENDING) error(v, r->tag, "busy", "too many requests wait on this connection");
	else v->pending[v->pending_count++] = (struct pending){r->type, r->tag};
}

static void attach(struct viewer *v, const struct request *r) {
	const struct spool *s = &v->keeper->spools[r->stream];
	if (r->offset < s->released) error(v, r->tag, "trimmed", "output below this offset was released");
	else if (r->offset > s->end) error(v, r->tag, "range", "there is no such offset yet");
	else {
		ok(v, r->tag);
		v->attached[r->stream] = (struct attachment){.active = true, .offset = r->offset};
	}
}

static void resize(struct viewer *v, const struct request *r) {
	struct winsize size = {.ws_col = r->columns, .ws_row = r->rows};
	if (v->keeper->terminal < 0 || ioctl(v->keeper->terminal, TIOCSWINSZ, &size) != 0) error(v, r->tag, "no-terminal", "this run has no terminal");
	else ok(v, r->tag);
}

static void send_signal(struct viewer *v, const struct request *r) {
	int number = signal_number(r->signal);
	if (!number) error(v, r->tag, "bad-signal", "not a signal a client may send");
	else if (v->keeper->state != RUN_RUNNING) error(v, r->tag, "not-running", "the program is not running");
	else {
		run_signal(v->keeper, number);
		ok(v, r->tag);
	}
}

static void release(struct viewer *v, const struct request *r) {
	if (r->offset > v->keeper->spools[r->stream].end) {
		error(v, r->tag, "range", "there is no such offset yet");
		return;
	}
	spool_release(v->keeper, r->stream, r->offset);
	ok(v, r->tag);
}

static void finish(struct viewer *v, const struct request *r) {
	struct keeper *k = v->keeper;
	if (k->state == RUN_RUNNING || k->state == RUN_ENDING) {
		error(v, r->tag, "running", "the program has not ended");
		return;
	}
	if (k->state == RUN_WAITING) run_end(k, NULL, "finished");
	unlinkat(k->dir_fd, "sock", 0);
	ok(v, r->tag);
	k->leave = true;
}

static void serve(struct viewer *v, const struct request *r) {
	struct keeper *k = v->keeper;
	struct text json = {0};
	switch (r->type) {
	case REQUEST_GO:
		run_go(k);
		wait_for(v, r);
		break;
	case REQUEST_ATTACH: attach(v, r); break;
	case REQUEST_DETACH:
		v->attached[r->stream].active = false;
		ok(v, r->tag);
		break;
	case REQUEST_INPUT: input_add(k, r->id, r->bytes, r->size, (struct viewer_tag){v, r->tag}); break;
	case REQUEST_CLOSE_INPUT: input_close(k, (struct viewer_tag){v, r->tag}); break;
	case REQUEST_INPUT_STATE:
		input_state_json(k, r->id, &json);
		answer_ok((struct viewer_tag){v, r->tag}, &json);
		break;
	case REQUEST_RESIZE: resize(v, r); break;
	case REQUEST_SIGNAL: send_signal(v, r); break;
	case REQUEST_TERMINATE:
		run_terminate(k);
		ok(v, r->tag);
		break;
	case REQUEST_KILL:
		run_end(k, NULL, "killed");
		wait_for(v, r);
		break;
	case REQUEST_WAIT: wait_for(v, r); break;
	case REQUEST_STATUS:
		record_hello_json(k, &json);
		answer_ok((struct viewer_tag){v, r->tag}, &json);
		break;
	case REQUEST_RELEASE: release(v, r); break;
	case REQUEST_FINISH: finish(v, r); break;
	case REQUEST_REACH: reach_begin(k, (struct viewer_tag){v, r->tag}, r->port); break;
	}
	text_free(&json);
}

// Serves whole frames; drops the connection at the first that is none.
static void serve_frames(struct viewer *v) {
	size_t at = 0;
	while (!v->closed && !v->paused && v->in_size - at >= FRAME_HEADER && out_size(v) < OUT_STOP) {
		int64_t size = frame_payload_size(v->in + at);
		struct request request;
		if (size < 0) drop(v);
		if (size < 0 || v->in_size - at < FRAME_HEADER + (size_t)size) break;
		if (!request_parse(&request, v->in[at + 4], v->in + at + FRAME_HEADER, (uint32_t)size)) drop(v);
		else serve(v, &request);
		at += FRAME_HEADER + (size_t)size;
	}
	if (at > 0) memmove(v->in, v->in + at, v->in_size - at);
	v->in_size -= at;
	if (v->in_size == 0 && v->in_room > READ_CHUNK) {
		free(v->in);
		v->in = NULL;
		v->in_room = 0;
	}
}

static void read_some(struct viewer *v) {
	if (v->in_room - v->in_size < 4096) {
		size_t room = v->in_room ? v->in_room * 2 : 4096;
		uint8_t *in = realloc(v->in, room);
		if (!in) {
			drop(v);
			return;
		}
		v->in = in;
		v->in_room = room;
	}
	ssize_t n = read(v->fd, v->in + v->in_size, v->in_room - v->in_size);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
	if (n <= 0) {
		drop(v);
		return;
	}
	v->in_size += (size_t)n;
	serve_frames(v);
}

// Puts output of a stream into the queue as far as there is room.
static void feed(struct viewer *v, int stream) {
	struct keeper *k = v->keeper;
	struct attachment *a = &v->attached[stream];
	const struct spool *s = &k->spools[stream];
	uint8_t head[9] = {(uint8_t)(stream + 1)};
	while (!v->closed && a->active && a->offset < s->end && out_size(v) < OUT_LOW) {
		if (a->offset < s->released) { // another viewer released what this one had not seen
			a->active = false;
			error(v, 0, "trimmed", stream ? "stderr was released beyond this view" : "stdout was released beyond this view");
			return;
		}
		uint64_t size = s->end - a->offset;
		ssize_t n = pread(s->file, k->chunk, size > OUTPUT_CHUNK ? OUTPUT_CHUNK : (size_t)size, (off_t)a->offset);
		if (n <= 0) {
			drop(v);
			return;
		}
		put_u64(head + 1, a->offset);
		put_frame(v, ANSWER_OUTPUT, head, sizeof head, k->chunk, (size_t)n);
		a->offset += (uint64_t)n;
	}
	// The end is told when it is final for the file too.
	if (!v->closed && a->active && a->offset == s->end && s->ended) {
		a->active = false;
		put_u64(head + 1, s->end);
		put_frame(v, ANSWER_EOF, head, sizeof head, NULL, 0);
	}
}

static void flush(struct viewer *v) {
	while (!v->closed && out_size(v) > 0) {
		ssize_t n = send(v->fd, v->out + v->out_start, out_size(v), MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR) continue;
		if (n < 0 && errno == EAGAIN) return;
		if (n < 0) {
			drop(v);
			return;
		}
		v->out_start += (size_t)n;
	}
	if (v->out_room > OUT_STOP && out_size(v) == 0) {
		free(v->out);
		v->out = NULL;
		v->out_room = v->out_start = v->out_end = 0;
	}
}

static void feed_and_flush(struct viewer *v) {
	for (int round = 0; round < 8 && !v->closed; round++) {
		for (int stream = 0; stream < STREAM_COUNT; stream++) feed(v, stream);
		if (out_size(v) == 0) break;
		flush(v);
		if (out_size(v) > 0) break;
	}
}

bool viewer_is_free(const struct viewer *v) { return v->pending_count == 0 && !v->attached[0].active && !v->attached[1].active; }

void viewer_pause(struct viewer *v, bool pause) { v->paused = pause; }

bool viewer_join(struct viewer *v, uint32_t tag, int fd) {
	ok(v, tag);
	flush(v);
	// What came before the answer belongs to no request and to no pipe.
	bool joined = !v->closed && v->in_size == 0 && front_join(v->keeper, fd, v->fd, v->out + v->out_start, out_size(v));
	if (!joined) drop(v);
	v->closed = true;
	return joined;
}

static void on_viewer(struct keeper *k, void *context, short events) {
	struct viewer *v = context;
	(void)k;
	if (v->closed) return;
	if (v->paused && (events & (POLLHUP | POLLERR))) drop(v);
	if (!v->paused && !v->closed && events & (POLLIN | POLLHUP | POLLERR)) read_some(v);
	if (!v->closed && v->in_size >= FRAME_HEADER) serve_frames(v);
	feed_and_flush(v);
}

// The program must not drive its own keeper, where it may open sockets and finds this one.
static bool is_of_the_run(const struct keeper *k, int fd) {
	int peer = system_peer(fd);
	return k->inner_pid > 0 && !k->inner_gone && peer != 0 && tree_may_hold(k->inner_pid, peer);
}

static void on_connection(struct keeper *k, void *context, short events) {
	(void)context;
	(void)events;
	int count = 0;
	for (struct viewer *v = k->viewers; v; v = v->next) count++;
	int fd = system_accept(k->listener);
	if (fd < 0) return;
	struct viewer *v = count < MAX_VIEWERS && !is_of_the_run(k, fd) ? calloc(1, sizeof *v) : NULL;
	if (!v) {
		close(fd);
		return;
	}
	*v = (struct viewer){.next = k->viewers, .keeper = k, .fd = fd};
	k->viewers = v;
	struct text hello = {0};
	record_hello_json(k, &hello);
	put_text(v, ANSWER_HELLO, NULL, 0, &hello);
	text_free(&hello);
	flush(v);
}

bool viewer_listen(struct keeper *k) {
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "sock"}; // the working directory is DIR
	k->listener = system_socket(AF_UNIX);
	if (k->listener < 0 || bind(k->listener, (struct sockaddr *)&address, sizeof address) != 0) return false;
	return chmod("sock", 0600) == 0 && listen(k->listener, 64) == 0;
}

// Output at hand that was not put into the queue yet: a viewer that takes everything at once leaves the queue empty before its turn is over.
static bool has_more(const struct viewer *v) {
	for (int stream = 0; stream < STREAM_COUNT; stream++)
		if (v->attached[stream].active && v->attached[stream].offset < v->keeper->spools[stream].end) return true;
	return false;
}

void viewer_poll(struct keeper *k) {
	poll_add(k, k->listener, POLLIN, on_connection, NULL);
	for (struct viewer *v = k->viewers; v; v = v->next) {
		feed_and_flush(v);
		if (v->closed) continue;
		short events = out_size(v) > 0 || has_more(v) ? POLLOUT : 0;
		if (out_size(v) < OUT_STOP && !v->paused) events |= POLLIN;
		poll_add(k, v->fd, events, on_viewer, v);
	}
}

void viewer_sweep(struct keeper *k) {
	for (struct viewer **at = &k->viewers; *at;) {
		struct viewer *v = *at;
		if (!v->closed) {
			at = &v->next;
			continue;
		}
		*at = v->next;
		free(v->in);
		free(v->out);
		free(v);
	}
}

// True when the pending request is answered.
static bool answer_pending(struct viewer *v, struct pending p, const struct text *record) {
	struct keeper *k = v->keeper;
	struct viewer_tag to = {v, p.tag};
	bool ended = k->state == RUN_ENDED;
	if (p.type == REQUEST_GO) {
		if (k->state == RUN_WAITING || (k->state == RUN_RUNNING && k->status >= 0)) return false;
		if (k->exec_failed) answer_error(to, "exec", k->exit.reason);
		else if (k->exit.started_at_ms == 0) answer_error(to, "ended", k->exit.reason);
		else ok(v, p.tag);
		return true;
	}
	if (!ended) return false;
	if (k->exit_lost) answer_error(to, "disk", "the end could not be recorded");
	else if (p.type == REQUEST_KILL) ok(v, p.tag);
	else answer_ok(to, record);
	return true;
}

void viewer_tell_changes(struct keeper *k) {
	struct text record = {0};
	if (k->state == RUN_ENDED) record_exit_json(k, &record);
	for (struct viewer *v = k->viewers; v; v = v->next) {
		int kept = 0;
		for (int i = 0; i < v->pending_count && !v->closed; i++)
			if (!answer_pending(v, v->pending[i], &record)) v->pending[kept++] = v->pending[i];
		v->pending_count = kept;
	}
	text_free(&record);
}

void viewer_last_word(struct keeper *k, const char *code, const char *message) {
	for (struct viewer *v = k->viewers; v; v = v->next)
		if (code) error(v, 0, code, message);
	uint64_t until = now_ms() + LAST_WORD_MS;
	for (struct viewer *v = k->viewers; v; v = v->next)
		while (!v->closed && out_size(v) > 0 && now_ms() < until) {
			struct pollfd room = {.fd = v->fd, .events = POLLOUT};
			if (poll(&room, 1, 50) > 0) flush(v);
		}
}
