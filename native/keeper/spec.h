// The spec: what one keeper is asked to run. Format: WIRE.md, "spec".
#ifndef KEEPER_SPEC_H
#define KEEPER_SPEC_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ACCESS_READ = 1, ACCESS_WRITE = 2, ACCESS_EXECUTE = 4 };
enum stdio_kind { STDIO_PIPED, STDIO_STREAM, STDIO_PTY };

// The six guarantees, in the order they are reported.
enum guarantee { GUARANTEE_FILES, GUARANTEE_NETWORK, GUARANTEE_HOSTS, GUARANTEE_PROCESSES, GUARANTEE_SIGNALS, GUARANTEE_LIMITS, GUARANTEE_COUNT };
extern const char *const guarantee_names[GUARANTEE_COUNT];

struct file_rule {
	char *path;
	unsigned access;
};

struct front_spec {
	uint64_t port; // 0: no front
	char *target;
	uint64_t hold_ms;
	uint64_t hold_max;
};

struct limit_spec { // 0: no bound of that kind
	uint64_t wall_ms, cpu_seconds, memory_bytes, max_processes, file_bytes;
	uint64_t output_bytes, spool_window_bytes;
};

struct spec {
	char *command;
	char **argv; // argv[0] is the command, ends with NULL
	size_t argc;
	char *cwd;
	enum stdio_kind stdio;
	uint64_t columns, rows;
	bool confine;
	struct file_rule *rules;
	size_t rule_count;
	char **readonly;
	size_t readonly_count;
	char **wrapper; // program and arguments that build the walls; ends with NULL when there is one
	size_t wrapper_count;
	bool network_none, processes, unix_sockets;
	struct limit_spec limits;
	struct front_spec front;
	bool required[GUARANTEE_COUNT];
	uint64_t go_timeout_ms, release_timeout_ms;
	char *text; // owns every string above
};

// Parses `text` (taken over, `size` bytes, room for one more byte behind them) into `spec`. False: `why` says what is wrong.
bool spec_parse(struct spec *spec, char *text, size_t size, char *why, size_t why_size);
void spec_free(struct spec *spec);

// Splits NUL-ended NAME=value entries into a NULL-ended array that points into `text`; NULL when malformed or out of memory.
char **env_split(char *text, size_t size);
#endif
