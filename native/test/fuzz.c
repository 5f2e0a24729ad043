// Feeds mutated text to the parsers of the spec, the environment and the socket. Built with sanitizers, they are the judge.
// With clang: -fsanitize=fuzzer -DWITH_LIBFUZZER. Without: fuzz ROUNDS SEED, mutations of good examples.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../keeper/frame.h"
#include "../keeper/spec.h"

static void parse_spec(const uint8_t *bytes, size_t size) {
	char *text = malloc(size + 1), why[120];
	struct spec spec;
	if (!text) return;
	memcpy(text, bytes, size);
	text[size] = 0;
	bool good = spec_parse(&spec, text, size, why, sizeof why);
	// A spec that is accepted has everything a keeper will touch.
	if (good && (!spec.command || !spec.cwd || spec.cwd[0] != '/' || !spec.argv[0] || spec.argv[spec.argc] || !spec.limits.output_bytes || (spec.front.port && !spec.front.target))) abort();
	for (size_t i = 0; good && i < spec.rule_count; i++)
		if (spec.rules[i].path[0] != '/' || !(spec.rules[i].access & ACCESS_READ)) abort();
	spec_free(&spec);
}

static void parse_env(const uint8_t *bytes, size_t size) {
	char *text = malloc(size + 1);
	if (!text) return;
	memcpy(text, bytes, size);
	char **env = env_split(text, size);
	for (size_t i = 0; env && env[i]; i++)
		if (!strchr(env[i], '=')) abort();
	free(env);
	free(text);
}

static void parse_frame(const uint8_t *bytes, size_t size) {
	if (size < FRAME_HEADER) return;
	int64_t announced = frame_payload_size(bytes);
	uint32_t payload = (uint32_t)(size - FRAME_HEADER);
	if (announced > MAX_PAYLOAD) abort();
	// An exact copy, so that a read behind the payload is seen.
	uint8_t *copy = malloc(payload ? payload : 1);
	struct request request;
	if (!copy) return;
	memcpy(copy, bytes + FRAME_HEADER, payload);
	if (request_parse(&request, bytes[4], copy, payload)) {
		if (request.stream < 0 || request.stream > 1 || strlen(request.id) > MAX_ID || request.size > payload) abort();
		volatile uint8_t sum = 0;
		for (uint32_t i = 0; i < request.size; i++) sum = (uint8_t)(sum + request.bytes[i]);
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
	parse_spec(bytes, size);
	parse_env(bytes, size);
	parse_frame(bytes, size);
	return 0;
}

#ifndef WITH_LIBFUZZER
static const char example_spec[] =
	"version 1\ncommand sh\narg -c\narg echo %41\ncwd /\nstdio pty\ncolumns 80\nrows 24\nconfine 1\nfile rwx /tmp\nfile ro /etc\nreadonly /tmp/.git\nnetwork none\nprocesses 1\n"
	"unix-sockets 0\nwall-ms 5\ncpu-seconds 4\nmemory-bytes 33\nmax-processes 7\nfile-bytes 9\noutput-bytes 100\nspool-window-bytes 10\nfront-port 80\nfront-target /s\nfront-hold-ms 1\n"
	"front-hold-max 2\nrequired files\nrequired hosts\ngo-timeout-ms 1\nrelease-timeout-ms 2\n";
static const uint8_t example_frames[][32] = {
	{13, 0, 0, 0, 2, 1, 0, 0, 0, 1, 9, 0, 0, 0, 0, 0, 0, 0}, {12, 0, 0, 0, 4, 1, 0, 0, 0, 3, 'a', '.', '1', 'd', 'a', 't', 'a'}, {8, 0, 0, 0, 7, 1, 0, 0, 0, 80, 0, 24, 0},
	{11, 0, 0, 0, 8, 1, 0, 0, 0, 'S', 'I', 'G', 'I', 'N', 'T'}, {4, 0, 0, 0, 11, 1, 0, 0, 0},
};

static uint64_t state;
static uint32_t draw(uint32_t below) {
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % below;
}

static size_t mutate(uint8_t *bytes, size_t size, size_t room) {
	static const char *const words[] = {"\n", " ", "%", "%00", "%zz", "/", "version 1\n", "arg ", "file rw ", "99999999999999999999", "0", "=", "\x80"};
	for (uint32_t i = draw(6); i > 0; i--) {
		size_t at = size ? draw((uint32_t)size) : 0;
		const char *word = words[draw(sizeof words / sizeof *words)];
		size_t length = strlen(word);
		switch (draw(4)) {
		case 0: if (size) bytes[at] = (uint8_t)draw(256); break;
		case 1: size = at; break;
		case 2:
			if (size + length > room) break;
			memmove(bytes + at + length, bytes + at, size - at);
			memcpy(bytes + at, word, length);
			size += length;
			break;
		default:
			if (!size) break;
			length = draw((uint32_t)(size - at)) + 1;
			memmove(bytes + at, bytes + at + length, size - at - length);
			size -= length;
		}
	}
	return size;
}

int main(int argc, char **argv) {
	static uint8_t bytes[4096];
	uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
	state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	char why[120];
	struct spec spec;
	char *good = malloc(sizeof example_spec);
	memcpy(good, example_spec, sizeof example_spec);
	if (!spec_parse(&spec, good, sizeof example_spec - 1, why, sizeof why)) return fprintf(stderr, "the example is refused: %s\n", why), 1;
	spec_free(&spec);
	for (uint64_t i = 0; i < rounds; i++) {
		size_t size = sizeof example_spec - 1;
		if (i % 2) memcpy(bytes, example_frames[draw(5)], size = 32);
		else memcpy(bytes, example_spec, size);
		if (i % 2) size = FRAME_HEADER + draw(28);
		LLVMFuzzerTestOneInput(bytes, mutate(bytes, size, sizeof bytes));
	}
	printf("fuzz: %llu rounds\n", (unsigned long long)rounds);
	return 0;
}
#endif
