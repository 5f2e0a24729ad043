// Words of a command line, and lines about what went wrong.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "text.h"

enum { LINE_ROOM = 1024 };

static void say(const char *head, const char *word, const char *what) {
	char line[LINE_ROOM];
	int size = snprintf(line, sizeof line - 1, "%s%s: %s", head, word, what);
	if (size < 0) return;
	if ((size_t)size > sizeof line - 2) size = (int)sizeof line - 2;
	for (int i = 0; i < size; i++) // names may hold anything; a line stays a line
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f) line[i] = '?';
	line[size++] = '\n';
	if (!write_all(STDERR_FILENO, line, (size_t)size)) return;
}

int fail(int code, const char *word, const char *what) {
	say("orrery-keeper: ", word, what);
	return code;
}

int fail_errno(const char *what) {
	int failure = errno;
	return failure == ENOENT ? fail(FAIL_MISSING, "missing", what) : fail(FAIL_SYSTEM, errno_name(failure), what);
}

void note_line(const char *word, const char *what) { say("", word, what); }

static struct option *find(const char *word, struct option *options, size_t count) {
	for (size_t i = 0; i < count; i++)
		if (strcmp(options[i].name, word) == 0) return &options[i];
	return NULL;
}

bool take_words(int count, char **words, const char **path, struct option *options, size_t option_count) {
	*path = NULL;
	for (int i = 0; i < count; i++) {
		struct option *option = strncmp(words[i], "--", 2) == 0 ? find(words[i], options, option_count) : NULL;
		if (!option && (*path || strncmp(words[i], "--", 2) == 0)) return usage("unknown word or option"), false;
		if (!option) *path = words[i];
		else if (option->value) return usage("repeated option"), false;
		else if (option->is_flag) option->value = "";
		else if (i + 1 == count) return usage("option without a value"), false;
		else option->value = words[++i];
	}
	if (!*path || !**path) return usage("a path is needed"), false;
	return true;
}

bool parse_number(const char *word, int base, uint64_t most, uint64_t *number) {
	char *end = NULL;
	errno = 0;
	if (word[0] < '0' || word[0] > '9' || strlen(word) > 20) return false;
	unsigned long long value = strtoull(word, &end, base);
	if (errno || *end || value > most) return false;
	*number = value;
	return true;
}
