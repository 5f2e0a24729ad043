#include "front.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "keeper.h"

enum { MAX_LINKS = 256, BUFFER = 32 << 10, RETRY_MS = 100 };

// One direction: what was read from `from` and is not yet written to `to`.
struct flow {
	uint8_t *bytes;
	size_t start, end;
	bool read_ended, write_ended;
};

struct front_link {
	struct front_link *next;
	int program, node; // node -1: held, waits for an absent node
	uint64_t held_until, retry_at;
	struct flow out, back; // program → node, node → program
	bool closed, joined; // joined: not the program's way to its node, and not ended with the program
};

int front_listen(uint16_t port, bool shared) {
	int fd = system_socket(AF_INET), yes = 1;
	if (fd < 0) return -1;
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	// Programs of one environment that share a network share its port: each of their keepers answers for the same node.
#ifdef SO_REUSEPORT
	if (shared) setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
#endif
	(void)shared;
	if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 128) == 0) return fd;
	int failure = errno;
	close(fd);
	errno = failure;
	return -1;
}

static void close_link(struct keeper *k, struct front_link *link, bool refuse) {
	if (link->closed) return;
	// Refused: a reset, not an orderly end that could be taken for an empty answer.
	if (refuse) setsockopt(link->program, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1}, sizeof(struct linger));
	close(link->program);
	if (link->node >= 0) close(link->node);
	else k->front.held--;
	k->front.count--;
	link->closed = true;
}

static bool open_flows(struct front_link *link) {
	link->out.bytes = malloc(BUFFER);
	link->back.bytes = malloc(BUFFER);
	return link->out.bytes && link->back.bytes;
}

// Connects a held link if the node is there now; refuses it when its time is over.
static void try_link(struct keeper *k, struct front_link *link, uint64_t now) {
	int node = system_connect_unix(k->spec.front.target);
	if (node >= 0) {
		link->node = node;
		k->front.held--;
		if (!open_flows(link)) close_link(k, link, true);
	} else if (now >= link->held_until) close_link(k, link, true);
	else link->retry_at = now + RETRY_MS < link->held_until ? now + RETRY_MS : link->held_until;
}

bool front_has_room(const struct keeper *k) { return k->front.count < MAX_LINKS; }

bool front_join(struct keeper *k, int program, int node, const uint8_t *first, size_t first_size) {
	struct front_link *link = k->front.count < MAX_LINKS && first_size <= BUFFER ? calloc(1, sizeof *link) : NULL;
	if (!link) return false;
	*link = (struct front_link){.next = k->front.links, .program = program, .node = node, .joined = true};
	if (!open_flows(link)) {
		free(link->out.bytes);
		free(link->back.bytes);
		free(link);
		return false;
	}
	if (first_size) memcpy(link->out.bytes, first, first_size);
	link->out.end = first_size;
	k->front.links = link;
	k->front.count++;
	return true;
}

static void on_accept(struct keeper *k, void *context, short events) {
	(void)context;
	(void)events;
	int fd = system_accept(k->front.listener);
	if (fd < 0) return;
	struct front_link *link = calloc(1, sizeof *link);
	if (!link) {
		close(fd);
		return;
	}
	uint64_t now = now_ms();
	*link = (struct front_link){.next = k->front.links, .program = fd, .node = -1, .held_until = now + k->spec.front.hold_ms};
	k->front.links = link;
	k->front.count++;
	k->front.held++;
	bool full = (uint64_t)k->front.held > k->spec.front.hold_max;
	if (full) link->held_until = now; // one try, no waiting
	try_link(k, link, now);
}

// False when the connection is broken.
static bool move(struct flow *flow, int from, int to, bool readable) {
	if (readable && !flow->read_ended && flow->start == flow->end) {
		flow->start = flow->end = 0;
		ssize_t n = read(from, flow->bytes, BUFFER);
		if (n < 0 && errno != EAGAIN && errno != EINTR) return false;
		if (n == 0) flow->read_ended = true;
		if (n > 0) flow->end = (size_t)n;
	}
	while (flow->start < flow->end) {
		ssize_t n = send(to, flow->bytes + flow->start, flow->end - flow->start, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR) continue;
		if (n < 0) return errno == EAGAIN;
		flow->start += (size_t)n;
	}
	if (flow->read_ended && !flow->write_ended) {
		shutdown(to, SHUT_WR);
		flow->write_ended = true;
	}
	return true;
}

static void progress(struct keeper *k, struct front_link *link, bool program_readable, bool node_readable) {
	if (link->closed || link->node < 0) return;
	bool whole = move(&link->out, link->program, link->node, program_readable) && move(&link->back, link->node, link->program, node_readable);
	if (!whole || (link->out.write_ended && link->back.write_ended)) close_link(k, link, !whole);
}

static void on_program(struct keeper *k, void *context, short events) {
	progress(k, context, (events & (POLLIN | POLLHUP | POLLERR)) != 0, false);
}

static void on_node(struct keeper *k, void *context, short events) {
	progress(k, context, false, (events & (POLLIN | POLLHUP | POLLERR)) != 0);
}

static void on_held(struct keeper *k, void *context, short events) {
	struct front_link *link = context;
	// The program gave up waiting. Bytes it sent stay in the socket until the node is there.
	if (!link->closed && link->node < 0 && (events & (POLLHUP | POLLERR))) close_link(k, link, false);
}

static bool pending(const struct flow *flow) { return flow->start < flow->end; }

static void poll_link(struct keeper *k, struct front_link *link) {
	if (link->node < 0) {
		poll_wake_at(k, link->retry_at);
		poll_add(k, link->program, 0, on_held, link);
		return;
	}
	short program = (short)((!pending(&link->out) && !link->out.read_ended ? POLLIN : 0) | (pending(&link->back) ? POLLOUT : 0));
	short node = (short)((!pending(&link->back) && !link->back.read_ended ? POLLIN : 0) | (pending(&link->out) ? POLLOUT : 0));
	if (program) poll_add(k, link->program, program, on_program, link);
	if (node) poll_add(k, link->node, node, on_node, link);
}

void front_poll(struct keeper *k) {
	uint64_t now = now_ms();
	for (struct front_link *link = k->front.links; link; link = link->next)
		if (!link->closed && link->node < 0 && now >= link->retry_at) try_link(k, link, now);
	for (struct front_link *link = k->front.links; link; link = link->next)
		if (!link->closed) poll_link(k, link);
	if (k->front.count < MAX_LINKS) poll_add(k, k->front.listener, POLLIN, on_accept, NULL);
}

void front_sweep(struct keeper *k) {
	for (struct front_link **at = &k->front.links; *at;) {
		struct front_link *link = *at;
		if (!link->closed) {
			at = &link->next;
			continue;
		}
		*at = link->next;
		free(link->out.bytes);
		free(link->back.bytes);
		free(link);
	}
}

void front_close(struct keeper *k) {
	if (k->front.listener >= 0) close(k->front.listener);
	k->front.listener = -1;
	for (struct front_link *link = k->front.links; link; link = link->next)
		if (!link->joined) close_link(k, link, true); // what a joined one still holds are a program's last words
}
