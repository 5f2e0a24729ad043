// A view through stdin and stdout: what `docker exec`, `kubectl exec` and `ssh` run.
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "commands.h"
#include "frame.h"
#include "text.h"

enum { BUFFER = 64 << 10 };
static const uint32_t FIRST_TAG = 0xffffffff;

static int connect_keeper(const char *dir) {
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "sock"};
	int fd = chdir(dir) == 0 ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
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

int command_attach(const char *dir, int stream, uint64_t from) {
	int fd = connect_keeper(dir);
	if (fd < 0) return 1;
	if (stream >= 0 && !send_attach(fd, stream, from)) return 1;
	struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR) return 1;
		if (fds[0].revents && !copy(fd, STDOUT_FILENO)) return 0;
		if (fds[1].fd >= 0 && fds[1].revents && !copy(STDIN_FILENO, fd)) return 0; // the view is closed; the run goes on
	}
}
