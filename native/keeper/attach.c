// A view through stdin and stdout: what `docker exec`, `kubectl exec` and `ssh` run.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ask.h"
#include "commands.h"
#include "frame.h"
#include "text.h"

enum { BUFFER = 64 << 10, REACH_MS = 30000 };
static const uint32_t FIRST_TAG = 0xffffffff;

static int connect_keeper(const char *dir) {
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "sock"};
	int fd = chdir(dir) == 0 ? socket(AF_UNIX, SOCK_STREAM, 0) : -1;
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
	fprintf(stderr, "orrery-keeper: no keeper answers in %s: %s\n", dir, strerror(errno));
	return -1;
}

static bool send_attach(int fd, int stream, uint64_t from) {
	uint8_t frame[FRAME_HEADER + 13];
	put_u32(frame, 13);
	frame[4] = REQUEST_ATTACH;
	put_u32(frame + 5, FIRST_TAG);
	frame[9] = (uint8_t)(stream + 1);
	put_u64(frame + 10, from);
	return write_all(fd, frame, sizeof frame);
}

// Copies once; false at the end of `from` or when `to` is gone.
static bool copy(int from, int to) {
	static uint8_t buffer[BUFFER];
	ssize_t n = read(from, buffer, sizeof buffer);
	if (n < 0 && errno == EINTR) return true;
	return n > 0 && write_all(to, buffer, (size_t)n);
}

static void end_sending(int fd) { shutdown(fd, SHUT_WR); }

// The end of stdin is passed on: a view is closed by it, a pipe to a port is told that no more is sent.
static int pump(int fd) {
	struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR) return 1;
		if (fds[0].revents && !copy(fd, STDOUT_FILENO)) return 0;
		if (fds[1].fd < 0 || !fds[1].revents || copy(STDIN_FILENO, fd)) continue;
		end_sending(fd);
		fds[1].fd = -1;
	}
}

int command_attach(const char *dir, int stream, uint64_t from) {
	int fd = connect_keeper(dir);
	if (fd < 0) return 1;
	if (stream >= 0 && !send_attach(fd, stream, from)) return 1;
	return pump(fd);
}

int command_reach(int count, char **words) {
	uint64_t port = 0;
	uint8_t body[2];
	struct answer answer;
	if (count != 2 || !parse_number(words[1], 10, 65535, &port) || port == 0) return usage("reach needs a directory and a port");
	int dir_fd = open(words[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = dir_fd < 0 ? -1 : ask_connect(dir_fd);
	if (fd < 0 && (errno == ENOENT || errno == ECONNREFUSED)) return fail(FAIL_NOT_RUNNING, "not-running", words[0]);
	if (fd < 0) return fail_errno(words[0]);
	body[0] = (uint8_t)port;
	body[1] = (uint8_t)(port >> 8);
	if (!ask(fd, REQUEST_REACH, body, sizeof body, now_ms() + REACH_MS, &answer)) return fail(FAIL_SYSTEM, "EIO", words[0]);
	if (answer.ok) return pump(fd);
	if (strcmp(answer.code, "not-running") == 0) return fail(FAIL_NOT_RUNNING, answer.code, words[0]);
	if (strcmp(answer.code, "no-listener") == 0) return fail(FAIL_NO_LISTENER, answer.code, words[1]);
	return strcmp(answer.code, "busy") == 0 ? fail(FAIL_BUSY, answer.code, words[0]) : fail(FAIL_SYSTEM, answer.code, words[0]);
}
