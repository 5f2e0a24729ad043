#include "ask.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "text.h"

#ifdef O_PATH
enum { HERE = O_PATH };
#else
enum { HERE = O_RDONLY };
#endif
enum { ANSWER_ROOM = 64 << 10, MOST_BODY = 16, TAG = 1 };

int ask_connect(int dir_fd) {
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "sock"};
	int before = open(".", HERE | O_DIRECTORY | O_CLOEXEC), failure = 0;
	int fd = before >= 0 && fchdir(dir_fd) == 0 ? socket(AF_UNIX, SOCK_STREAM, 0) : -1;
	if (fd >= 0 && (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)) {
		failure = errno;
		close(fd);
		fd = -1;
	} else failure = errno;
	if (before >= 0) {
		if (fchdir(before) != 0 && fd >= 0) {
			failure = errno;
			close(fd);
			fd = -1;
		}
		close(before);
	}
	errno = failure;
	return fd;
}

static bool read_exactly(int fd, uint8_t *into, size_t size, uint64_t until_ms) {
	for (size_t done = 0; done < size;) {
		uint64_t now = now_ms();
		struct pollfd wait = {.fd = fd, .events = POLLIN};
		if (now >= until_ms || poll(&wait, 1, (int)(until_ms - now)) == 0) return false;
		ssize_t n = recv(fd, into + done, size - done, MSG_DONTWAIT);
		if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
		if (n <= 0) return false;
		done += (size_t)n;
	}
	return true;
}

static void take_code(struct answer *answer, const char *json) {
	static const char head[] = "{\"code\":\"";
	if (strncmp(json, head, sizeof head - 1) != 0) return;
	snprintf(answer->code, sizeof answer->code, "%.*s", (int)strcspn(json + sizeof head - 1, "\""), json + sizeof head - 1);
}

bool ask(int fd, enum request_type type, const uint8_t *body, uint32_t size, uint64_t until_ms, struct answer *answer) {
	static uint8_t payload[ANSWER_ROOM + 1];
	uint8_t frame[FRAME_HEADER + 4 + MOST_BODY], header[FRAME_HEADER];
	*answer = (struct answer){0};
	if (size > MOST_BODY) return false;
	put_u32(frame, 4 + size);
	frame[4] = (uint8_t)type;
	put_u32(frame + FRAME_HEADER, TAG);
	if (size) memcpy(frame + FRAME_HEADER + 4, body, size);
	if (send(fd, frame, FRAME_HEADER + 4 + size, MSG_NOSIGNAL) != (ssize_t)(FRAME_HEADER + 4 + size)) return false;
	for (;;) {
		if (!read_exactly(fd, header, sizeof header, until_ms)) return false;
		size_t length = (size_t)header[0] | (size_t)header[1] << 8 | (size_t)header[2] << 16 | (size_t)header[3] << 24;
		if (length > ANSWER_ROOM || !read_exactly(fd, payload, length, until_ms)) return false;
		payload[length] = 0;
		if ((header[4] != ANSWER_OK && header[4] != ANSWER_ERR) || length < 4 || payload[0] != TAG || payload[1] || payload[2] || payload[3]) continue;
		answer->ok = header[4] == ANSWER_OK;
		if (!answer->ok) take_code(answer, (const char *)payload + 4);
		return true;
	}
}
