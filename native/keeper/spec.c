// Parses the spec. Strict on purpose: a key that is not understood could be a wall that is not built.
#include "spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINES = 65536 };
static const size_t MAX_SPEC_BYTES = (size_t)8 << 20;

const char *const guarantee_names[GUARANTEE_COUNT] = {"files", "network", "hosts", "processes", "signals", "limits"};

enum key {
	KEY_VERSION, KEY_COMMAND, KEY_CWD, KEY_STDIO, KEY_COLUMNS, KEY_ROWS, KEY_CONFINE, KEY_NETWORK, KEY_PROCESSES, KEY_UNIX_SOCKETS,
	KEY_WALL_MS, KEY_CPU_SECONDS, KEY_MEMORY_BYTES, KEY_MAX_PROCESSES, KEY_FILE_BYTES, KEY_OUTPUT_BYTES, KEY_SPOOL_WINDOW_BYTES,
	KEY_FRONT_PORT, KEY_FRONT_TARGET, KEY_FRONT_HOLD_MS, KEY_FRONT_HOLD_MAX, KEY_GO_TIMEOUT_MS, KEY_RELEASE_TIMEOUT_MS,
	KEY_LAST_SINGLE = KEY_RELEASE_TIMEOUT_MS,
	KEY_ARG, KEY_FILE, KEY_READONLY, KEY_WRAPPER, KEY_REQUIRED, KEY_COUNT
};

static const char *const key_names[KEY_COUNT] = {
	"version", "command", "cwd", "stdio", "columns", "rows", "confine", "network", "processes", "unix-sockets",
	"wall-ms", "cpu-seconds", "memory-bytes", "max-processes", "file-bytes", "output-bytes", "spool-window-bytes",
	"front-port", "front-target", "front-hold-ms", "front-hold-max", "go-timeout-ms", "release-timeout-ms",
	"arg", "file", "readonly", "wrapper", "required",
};

struct parser {
	struct spec *spec;
	bool seen[KEY_COUNT];
	char *why;
	size_t why_size;
};

static bool fail(struct parser *p, const char *what, const char *which) {
	snprintf(p->why, p->why_size, *which ? "%s %.80s" : "%s", what, which);
	return false;
}

static int hex_digit(char c) {
	if (c >= '0' && c <= '9') return c - '0';
	if (c >= 'a' && c <= 'f') return c - 'a' + 10;
	if (c >= 'A' && c <= 'F') return c - 'A' + 10;
	return -1;
}

// Decodes %XX in place (the result is never longer) and ends the string.
static bool decode(char *value, size_t size) {
	size_t out = 0;
	for (size_t in = 0; in < size; in++) {
		unsigned char c = (unsigned char)value[in];
		if (c < 0x20 || c > 0x7e) return false;
		if (c == '%') {
			if (in + 2 >= size) return false;
			int high = hex_digit(value[in + 1]), low = hex_digit(value[in + 2]);
			if (high < 0 || low < 0 || (high | low) == 0) return false;
			c = (unsigned char)(high * 16 + low);
			in += 2;
		}
		value[out++] = (char)c;
	}
	value[out] = 0;
	return true;
}

static bool number(struct parser *p, enum key key, const char *value, uint64_t range[2], uint64_t *into) {
	uint64_t result = 0;
	size_t length = strlen(value);
	if (length == 0 || length > 18) return fail(p, "not a number in range:", key_names[key]);
	for (size_t i = 0; i < length; i++) {
		if (value[i] < '0' || value[i] > '9') return fail(p, "not a number:", key_names[key]);
		result = result * 10 + (uint64_t)(value[i] - '0');
	}
	if (result < range[0] || result > range[1]) return fail(p, "out of range:", key_names[key]);
	*into = result;
	return true;
}

static bool positive(struct parser *p, enum key key, const char *value, uint64_t *into) {
	return number(p, key, value, (uint64_t[]){1, UINT64_MAX}, into);
}

static bool flag(struct parser *p, enum key key, const char *value, bool *into) {
	uint64_t result = 0;
	if (!number(p, key, value, (uint64_t[]){0, 1}, &result)) return false;
	*into = result == 1;
	return true;
}

static bool absolute(struct parser *p, enum key key, char *value, char **into) {
	if (value[0] != '/') return fail(p, "not an absolute path:", key_names[key]);
	*into = value;
	return true;
}

static bool choice(struct parser *p, enum key key, const char *value, const char *const *names, int *into) {
	for (int i = 0; names[i]; i++)
		if (strcmp(names[i], value) == 0) {
			*into = i;
			return true;
		}
	return fail(p, "not a known value of", key_names[key]);
}

// Grows an array in powers of two; NULL when out of memory.
static void *grown(void *items, size_t count, size_t item_size) {
	if ((count & (count - 1)) != 0) return items;
	return realloc(items, (count == 0 ? 1 : count * 2) * item_size);
}

static bool add_string(struct parser *p, char ***list, size_t *count, char *value) {
	char **items = grown(*list, *count, sizeof *items);
	if (!items) return fail(p, "out of memory", "");
	*list = items;
	items[(*count)++] = value;
	return true;
}

static bool add_rule(struct parser *p, char *value) {
	static const char *const names[] = {"ro", "rox", "rw", "rwx", NULL};
	static const unsigned bits[] = {ACCESS_READ, ACCESS_READ | ACCESS_EXECUTE, ACCESS_READ | ACCESS_WRITE, ACCESS_READ | ACCESS_WRITE | ACCESS_EXECUTE};
	char *space = strchr(value, ' ');
	int index = 0;
	if (!space) return fail(p, "file without a path", "");
	*space = 0;
	if (!choice(p, KEY_FILE, value, names, &index)) return false;
	struct spec *spec = p->spec;
	struct file_rule *rules = grown(spec->rules, spec->rule_count, sizeof *rules);
	if (!rules) return fail(p, "out of memory", "");
	spec->rules = rules;
	rules[spec->rule_count] = (struct file_rule){.path = NULL, .access = bits[index]};
	return absolute(p, KEY_FILE, space + 1, &rules[spec->rule_count++].path);
}

static bool add_required(struct parser *p, const char *value) {
	int index = 0;
	const char *names[GUARANTEE_COUNT + 1] = {NULL};
	for (int i = 0; i < GUARANTEE_COUNT; i++) names[i] = guarantee_names[i];
	if (!choice(p, KEY_REQUIRED, value, names, &index)) return false;
	p->spec->required[index] = true;
	return true;
}

static bool take_word(struct parser *p, enum key key, char *value) {
	static const char *const stdio_names[] = {"piped", "stream", "pty", NULL}, *const network_names[] = {"host", "none", NULL};
	struct spec *s = p->spec;
	int index = 0;
	switch (key) {
	case KEY_VERSION: return strcmp(value, "1") == 0 || fail(p, "unknown version", value);
	case KEY_COMMAND: s->command = value; return value[0] != 0 || fail(p, "empty:", "command");
	case KEY_CWD: return absolute(p, key, value, &s->cwd);
	case KEY_STDIO:
		if (!choice(p, key, value, stdio_names, &index)) return false;
		s->stdio = (enum stdio_kind)index;
		return true;
	case KEY_NETWORK:
		if (!choice(p, key, value, network_names, &index)) return false;
		s->network_none = index == 1;
		return true;
	case KEY_CONFINE: return flag(p, key, value, &s->confine);
	case KEY_PROCESSES: return flag(p, key, value, &s->processes);
	case KEY_UNIX_SOCKETS: return flag(p, key, value, &s->unix_sockets);
	case KEY_FRONT_TARGET: return absolute(p, key, value, &s->front.target);
	case KEY_ARG: return add_string(p, &s->argv, &s->argc, value);
	case KEY_FILE: return add_rule(p, value);
	case KEY_READONLY: {
		char *path = NULL;
		return absolute(p, key, value, &path) && add_string(p, &s->readonly, &s->readonly_count, path);
	}
	case KEY_WRAPPER: return (s->wrapper_count > 0 || value[0] == '/' || fail(p, "not an absolute path:", key_names[key])) && add_string(p, &s->wrapper, &s->wrapper_count, value);
	case KEY_REQUIRED: return add_required(p, value);
	default: return fail(p, "unknown key", key_names[key]);
	}
}

static bool take(struct parser *p, enum key key, char *value) {
	struct spec *s = p->spec;
	uint64_t port_range[2] = {1, 65535}, any[2] = {0, UINT64_MAX};
	switch (key) {
	case KEY_COLUMNS: return number(p, key, value, port_range, &s->columns);
	case KEY_ROWS: return number(p, key, value, port_range, &s->rows);
	case KEY_WALL_MS: return positive(p, key, value, &s->limits.wall_ms);
	case KEY_CPU_SECONDS: return positive(p, key, value, &s->limits.cpu_seconds);
	case KEY_MEMORY_BYTES: return positive(p, key, value, &s->limits.memory_bytes);
	case KEY_MAX_PROCESSES: return positive(p, key, value, &s->limits.max_processes);
	case KEY_FILE_BYTES: return positive(p, key, value, &s->limits.file_bytes);
	case KEY_OUTPUT_BYTES: return positive(p, key, value, &s->limits.output_bytes);
	case KEY_SPOOL_WINDOW_BYTES: return positive(p, key, value, &s->limits.spool_window_bytes);
	case KEY_FRONT_PORT: return number(p, key, value, port_range, &s->front.port);
	case KEY_FRONT_HOLD_MS: return number(p, key, value, any, &s->front.hold_ms);
	case KEY_FRONT_HOLD_MAX: return number(p, key, value, any, &s->front.hold_max);
	case KEY_GO_TIMEOUT_MS: return positive(p, key, value, &s->go_timeout_ms);
	case KEY_RELEASE_TIMEOUT_MS: return positive(p, key, value, &s->release_timeout_ms);
	default: return take_word(p, key, value);
	}
}

static bool take_line(struct parser *p, char *line, size_t size, bool first) {
	char *space = memchr(line, ' ', size);
	if (!space) {
		line[size] = 0;
		return fail(p, "no value in line", line);
	}
	*space = 0;
	int key = 0;
	while (key < KEY_COUNT && strcmp(key_names[key], line) != 0) key++;
	if (key == KEY_COUNT) return fail(p, "unknown key", line);
	if (first != (key == KEY_VERSION)) return fail(p, "version must be the first line, once:", line);
	if (key <= KEY_LAST_SINGLE && p->seen[key]) return fail(p, "repeated key", line);
	p->seen[key] = true;
	if (!decode(space + 1, size - (size_t)(space + 1 - line))) return fail(p, "bad escape or byte in", key_names[key]);
	return take(p, (enum key)key, space + 1);
}

static bool require(struct parser *p, const enum key *keys, size_t count, bool wanted) {
	for (size_t i = 0; i < count; i++) {
		if (p->seen[keys[i]] == wanted) continue;
		return fail(p, wanted ? "missing key" : "key does not fit here:", key_names[keys[i]]);
	}
	return true;
}

static bool check_keys(struct parser *p) {
	static const enum key always[] = {KEY_VERSION, KEY_COMMAND, KEY_CWD, KEY_STDIO, KEY_CONFINE, KEY_OUTPUT_BYTES, KEY_SPOOL_WINDOW_BYTES, KEY_GO_TIMEOUT_MS, KEY_RELEASE_TIMEOUT_MS};
	static const enum key confined[] = {KEY_NETWORK, KEY_PROCESSES, KEY_UNIX_SOCKETS}, confined_lists[] = {KEY_FILE, KEY_READONLY, KEY_WRAPPER};
	static const enum key front[] = {KEY_FRONT_TARGET, KEY_FRONT_HOLD_MS, KEY_FRONT_HOLD_MAX}, terminal[] = {KEY_COLUMNS, KEY_ROWS};
	if (!require(p, always, sizeof always / sizeof *always, true)) return false;
	if (!require(p, confined, 3, p->spec->confine)) return false;
	if (!p->spec->confine && !require(p, confined_lists, 3, false)) return false;
	// A wrapper builds both or it is none: half of its walls would be promised and not be there.
	if (p->spec->wrapper_count && !(p->spec->network_none && p->spec->processes)) return fail(p, "network none and processes 1 are needed with", key_names[KEY_WRAPPER]);
	if (!require(p, front, 3, p->seen[KEY_FRONT_PORT])) return false;
	return p->spec->stdio == STDIO_PTY || require(p, terminal, 2, false);
}

// Puts the command before the arguments, and the NULL behind them and behind the wrapper's.
static bool finish_argv(struct parser *p) {
	struct spec *s = p->spec;
	char **argv = malloc((s->argc + 2) * sizeof *argv);
	if (!argv) return fail(p, "out of memory", "");
	argv[0] = s->command;
	if (s->argc) memcpy(argv + 1, s->argv, s->argc * sizeof *argv);
	argv[++s->argc] = NULL;
	free(s->argv);
	s->argv = argv;
	if (s->wrapper_count == 0) return true;
	char **wrapper = realloc(s->wrapper, (s->wrapper_count + 1) * sizeof *wrapper);
	if (!wrapper) return fail(p, "out of memory", "");
	s->wrapper = wrapper;
	wrapper[s->wrapper_count] = NULL;
	return true;
}

bool spec_parse(struct spec *spec, char *text, size_t size, char *why, size_t why_size) {
	*spec = (struct spec){.text = text, .columns = 80, .rows = 24};
	struct parser p = {.spec = spec, .why = why, .why_size = why_size};
	if (size > MAX_SPEC_BYTES) return fail(&p, "too large", "");
	if (size == 0 || text[size - 1] != '\n') return fail(&p, "last line is not ended", "");
	size_t lines = 0;
	for (size_t at = 0; at < size;) {
		char *end = memchr(text + at, '\n', size - at);
		size_t length = (size_t)(end - (text + at));
		if (++lines > MAX_LINES) return fail(&p, "too many lines", "");
		if (memchr(text + at, 0, length)) return fail(&p, "NUL byte", "");
		if (!take_line(&p, text + at, length, at == 0)) return false;
		at += length + 1;
	}
	return check_keys(&p) && finish_argv(&p);
}

void spec_free(struct spec *spec) {
	free(spec->argv);
	free(spec->rules);
	free(spec->readonly);
	free(spec->wrapper);
	free(spec->text);
	*spec = (struct spec){0};
}

char **env_split(char *text, size_t size) {
	size_t count = 0;
	if (size && text[size - 1] != 0) return NULL;
	for (size_t i = 0; i < size; i++) count += text[i] == 0;
	char **env = malloc((count + 1) * sizeof *env);
	if (!env) return NULL;
	size_t used = 0;
	for (size_t at = 0; at < size; at += strlen(text + at) + 1) {
		char *equals = strchr(text + at, '=');
		if (!equals || equals == text + at) {
			free(env);
			return NULL;
		}
		env[used++] = text + at;
	}
	env[used] = NULL;
	return env;
}
