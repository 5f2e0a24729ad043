// A command whose stdin ends where the caller says, over a connection that can only end as a whole.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "stream.h"
#include "text.h"

static struct source in = {.fd = STDIN_FILENO};

enum fed { FED, FED_NOT_WANTED, FED_CUT };

// Waits for something to pass on; false when the command is gone and nobody reads its stdin any more.
static bool is_wanted(int to) {
	struct pollfd fds[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = to, .events = 0}};
	while (in.start == in.end) {
		if (poll(fds, 2, -1) < 0) continue;
		if (fds[1].revents) return false;
		if (fds[0].revents) break;
	}
	return true;
}

static uint32_t little_endian(const uint8_t *bytes) {
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

// Passes one piece on; a command that reads no more is no failure.
static enum fed feed_piece(int to, uint32_t left) {
	while (left > 0) {
		if (!is_wanted(to)) return FED_NOT_WANTED;
		if (!source_fill(&in)) return FED_CUT;
		size_t ready = in.end - in.start, part = left < ready ? left : ready;
		if (!write_all(to, in.bytes + in.start, part)) return FED_NOT_WANTED;
		in.start += part;
		left -= (uint32_t)part;
	}
	return FED;
}

static enum fed feed_all(int to) {
	for (;;) {
		uint8_t head[4];
		if (!is_wanted(to)) return FED_NOT_WANTED;
		if (source_take(&in, head, sizeof head) != sizeof head) return FED_CUT;
		uint32_t size = little_endian(head);
		if (size == 0) return FED;
		enum fed fed = feed_piece(to, size);
		if (fed != FED) return fed;
	}
}

static _Noreturn void become(char **words, const int *ends) {
	signal(SIGPIPE, SIG_DFL);
	if (dup2(ends[0], STDIN_FILENO) < 0) _exit(fail_errno("stdin"));
	close(ends[0]);
	close(ends[1]);
	execvp(words[0], words);
	_exit(fail_errno(words[0]));
}

static int end_of(pid_t child) {
	int status = 0;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR) return fail_errno("waitpid");
	if (WIFEXITED(status)) return WEXITSTATUS(status);
	return fail(FAIL_SYSTEM, signal_name(WTERMSIG(status)), "the command was ended by it");
}

int command_feed(int count, char **words) {
	if (count < 2 || strcmp(words[0], "--") != 0) return usage("feed needs -- and a command");
	int ends[2];
	if (pipe(ends) != 0) return fail_errno("pipe");
	signal(SIGPIPE, SIG_IGN);
	pid_t child = fork();
	if (child < 0) return fail_errno("fork");
	if (child == 0) become(words + 1, ends);
	close(ends[0]);
	enum fed fed = feed_all(ends[1]);
	// An end that nobody meant must not look like one to the command.
	if (fed == FED_CUT) kill(child, SIGKILL);
	close(ends[1]);
	if (fed != FED_CUT) return end_of(child);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
	return fail(FAIL_BAD_STREAM, "bad-stream", "stdin ended before the caller said so");
}
