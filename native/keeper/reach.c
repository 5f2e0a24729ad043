// The node's way to a listener of the program: the inner process, which is where the listener is, makes the connection
// and passes it out; then it is joined to the viewer's.
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "keeper.h"

struct reach {
	struct reach *next;
	struct viewer_tag from; // no viewer: over; freed before the next wait, as somebody may still hold it in this turn
	uint64_t ticket;
	int fd; // connecting; -1 until it was passed
};

static void forget(struct reach *reach) {
	if (reach->fd >= 0) close(reach->fd);
	reach->fd = -1;
	reach->from.viewer = NULL;
}

// The viewer stays one: it may ask again.
static void refuse(struct reach *reach, const char *code, const char *message) {
	viewer_pause(reach->from.viewer, false);
	answer_error(reach->from, code, message);
	forget(reach);
}

static void refuse_errno(struct reach *reach, int failure) {
	if (failure == ECONNREFUSED) refuse(reach, "no-listener", "nothing listens on that port of the run");
	else refuse(reach, errno_name(failure), "the connection could not be made");
}

void reach_begin(struct keeper *k, struct viewer_tag from, uint16_t port) {
	struct message order = {.kind = MESSAGE_REACH, .value = port, .ticket = ++k->last_ticket};
	if (k->state != RUN_RUNNING || k->control < 0) answer_error(from, "not-running", "the program is not running");
	else if (!viewer_is_free(from.viewer)) answer_error(from, "in-use", "a connection that becomes a pipe is used for nothing else");
	else {
		struct reach *reach = calloc(1, sizeof *reach);
		if (!reach || !message_send(k->control, &order, NULL)) {
			free(reach);
			answer_error(from, "not-running", "the run cannot be asked");
			return;
		}
		*reach = (struct reach){.next = k->reaches, .from = from, .ticket = order.ticket, .fd = -1};
		k->reaches = reach;
		viewer_pause(from.viewer, true);
	}
}

void reach_answer(struct keeper *k, const struct message *message, int fd) {
	struct reach *reach = k->reaches;
	while (reach && (reach->ticket != message->ticket || !reach->from.viewer)) reach = reach->next;
	if (!reach) {
		if (fd >= 0) close(fd); // its viewer has gone
		return;
	}
	reach->fd = fd;
	if (fd < 0) refuse_errno(reach, message->value ? message->value : EIO);
}

static void on_connected(struct keeper *k, void *context, short events) {
	struct reach *reach = context;
	int failure = 0;
	socklen_t size = sizeof failure;
	(void)events;
	if (!reach->from.viewer) return;
	if (getsockopt(reach->fd, SOL_SOCKET, SO_ERROR, &failure, &size) != 0) failure = errno;
	if (failure) {
		refuse_errno(reach, failure);
		return;
	}
	if (!front_has_room(k)) {
		refuse(reach, "busy", "this run has too many connections");
		return;
	}
	struct viewer_tag from = reach->from;
	int fd = reach->fd;
	reach->fd = -1;
	forget(reach);
	if (!viewer_join(from.viewer, from.tag, fd)) close(fd);
}

void reach_poll(struct keeper *k) {
	for (struct reach **at = &k->reaches; *at;) {
		struct reach *over = (*at)->from.viewer ? NULL : *at;
		if (over) *at = over->next;
		else at = &(*at)->next;
		free(over);
	}
	for (struct reach *reach = k->reaches; reach; reach = reach->next)
		if (reach->fd >= 0) poll_add(k, reach->fd, POLLOUT, on_connected, reach);
}

void reach_forget_viewer(struct keeper *k, const struct viewer *viewer) {
	for (struct reach *reach = k->reaches; reach; reach = reach->next)
		if (reach->from.viewer == viewer) forget(reach);
}

void reach_settle(struct keeper *k) {
	for (struct reach *reach = k->reaches; reach; reach = reach->next)
		if (reach->from.viewer) refuse(reach, "not-running", "the program has ended");
}
