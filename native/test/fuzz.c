// Feeds mutated text to the parsers of the spec, the environment, the socket, the relay, archives, paths and numbers. Built with sanitizers, they are the judge.
// With clang: -fsanitize=fuzzer -DWITH_LIBFUZZER. Without: fuzz ROUNDS SEED, mutations of good examples.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../keeper/below.h"
#include "../keeper/commands.h"
#include "../keeper/frame.h"
#include "../keeper/relay_frame.h"
#include "../keeper/spec.h"
#include "../keeper/tar.h"

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

static void parse_relay(const uint8_t *bytes, size_t size) {
	uint8_t *copy = malloc(size ? size : 1);
	if (!copy) return;
	memcpy(copy, bytes, size);
	struct relay_frame frame;
	size_t at = 0, used = 0;
	while (relay_parse(copy + at, size - at, &frame, &used) == RELAY_WHOLE) {
		if (used < RELAY_HEAD || used > size - at || frame.size > RELAY_PIECE || frame.bytes + frame.size > copy + at + used) abort();
		volatile uint8_t sum = 0;
		for (uint32_t i = 0; i < frame.size; i++) sum = (uint8_t)(sum + frame.bytes[i]);
		at += used;
	}
	free(copy);
}

// What an archive says is believed in nothing; a reader that comes to its end has read no byte twice.
static int count_members(const uint8_t *bytes, size_t size) {
	static struct source in;
	static struct tar_member member;
	static uint8_t rest[TAR_BLOCK];
	const char *why = "";
	int count = 0;
	in.fd = -1;
	in.failure = 0;
	in.start = 0;
	in.end = size < sizeof in.bytes ? size : sizeof in.bytes;
	memcpy(in.bytes, bytes, in.end);
	enum tar_result result;
	while ((result = tar_next(&in, &member, &why)) == TAR_MEMBER) {
		if (strlen(member.path) >= sizeof member.path || strlen(member.target) >= sizeof member.target || (member.mode & ~07777u) || (member.type != TAR_FILE && member.size)) abort();
		if (below_clean(member.path)) {
			if (member.path[0] == '/' || strstr(member.path, "//") || strcmp(member.path, "..") == 0 || strncmp(member.path, "../", 3) == 0 || strstr(member.path, "/../")) abort();
		}
		uint64_t left = member.size;
		while (left > 0 && source_fill(&in)) left -= source_take(&in, rest, left < sizeof rest ? (size_t)left : sizeof rest);
		if (left > 0 || !tar_pad(&in, member.size)) return -1;
		count++;
	}
	if (result == TAR_BAD && !*why) abort();
	return result == TAR_END ? count : -1;
}

static void parse_archive(const uint8_t *bytes, size_t size) { count_members(bytes, size); }

static void parse_words(const uint8_t *bytes, size_t size) {
	char *word = malloc(size + 1);
	uint64_t number = 0;
	if (!word) return;
	memcpy(word, bytes, size);
	word[size] = 0;
	if (parse_number(word, 10, 65535, &number) && number > 65535) abort();
	if (below_clean(word) && (word[0] == '/' || strlen(word) > size)) abort();
	free(word);
}

int usage(const char *what) { return what ? 64 : 0; }

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
	parse_spec(bytes, size);
	parse_env(bytes, size);
	parse_frame(bytes, size);
	parse_relay(bytes, size);
	parse_archive(bytes, size);
	parse_words(bytes, size);
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

static const uint8_t example_relay[][24] = {
	{7, 0, 0, 0, 2, 1, 0, 0, 0, 'a', 'b', 'c', 4, 0, 0, 0, 3, 1, 0, 0, 0}, {8, 0, 0, 0, 5, 1, 0, 0, 0, 0, 1, 0, 0}, {5, 0, 0, 0, 6, 0, 0, 0, 0, '!'},
};

// An archive with one of each: long names, extra records, folders, links. Its bytes; mutations repair no sums, but for those of `with_sums`.
static size_t make_archive(uint8_t *bytes, size_t room) {
	static struct sink out;
	static char long_name[300];
	memset(long_name, 'n', sizeof long_name - 1);
	const struct tar_entry entries[] = {
		{.path = "file", .target = "", .type = TAR_FILE, .mode = 0644, .size = 5, .mtime = {.tv_sec = 1, .tv_nsec = 5}},
		{.path = long_name, .target = long_name, .type = TAR_SYMLINK, .mode = 0777, .mtime = {.tv_sec = -2, .tv_nsec = 1}},
		{.path = "folder/", .target = "", .type = TAR_FOLDER, .mode = 0755},
	};
	out.fd = -1;
	out.used = 0;
	for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
		if (!tar_put_header(&out, &entries[i])) abort();
		if (entries[i].size && (!sink_put(&out, "hello", 5) || !tar_put_padding(&out, 5))) abort();
	}
	if (!tar_put_end(&out) || out.used > room) abort();
	memcpy(bytes, out.bytes, out.used);
	return out.used;
}

// Makes the sums right again, block by block, so that what is behind them is reached.
static void repair_sums(uint8_t *bytes, size_t size) {
	for (size_t at = 0; at + TAR_BLOCK <= size; at += TAR_BLOCK) {
		unsigned sum = 0;
		char digits[8];
		if (memcmp(bytes + at + 257, "ustar", 5) != 0) continue;
		memset(bytes + at + 148, ' ', 8);
		for (size_t i = 0; i < TAR_BLOCK; i++) sum += bytes[at + i];
		snprintf(digits, sizeof digits, "%06o", sum);
		memcpy(bytes + at + 148, digits, 7);
	}
}

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
	static uint8_t archive[16 << 10], mutated[20 << 10];
	size_t archive_size = make_archive(archive, sizeof archive);
	if (count_members(archive, archive_size) != 3) return fprintf(stderr, "the example archive is not read\n"), 1;
	for (uint64_t i = 0; i < rounds; i++) {
		size_t size = sizeof example_spec - 1;
		if (i % 8 == 7) {
			memcpy(mutated, archive, archive_size);
			size = mutate(mutated, archive_size, sizeof mutated);
			if (i % 16 == 7) repair_sums(mutated, size);
			parse_archive(mutated, size);
			continue;
		}
		if (i % 8 == 3) {
			memcpy(bytes, example_relay[draw(3)], size = 24);
			parse_relay(bytes, mutate(bytes, size - draw(4), sizeof bytes));
			continue;
		}
		if (i % 2) memcpy(bytes, example_frames[draw(5)], size = 32);
		else memcpy(bytes, example_spec, size);
		if (i % 2) size = FRAME_HEADER + draw(28);
		LLVMFuzzerTestOneInput(bytes, mutate(bytes, size, sizeof bytes));
	}
	printf("fuzz: %llu rounds\n", (unsigned long long)rounds);
	return 0;
}
#endif
