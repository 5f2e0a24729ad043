// One command of the starter: what was asked, and how it begins. Format: WIRE.md, "Starter".
#ifndef KEEPER_START_H
#define KEEPER_START_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct start {
	char **argv, **env; // one block; the caller frees argv
	const char *cwd;
	bool with_input, with_stderr, lives_on;
	uint32_t memory_mib; // of its own data; 0: no bound
	pid_t pid;
	int in, out[2]; // our ends of its pipes; -1 for those it has not
};

// Parses the payload of START in place, whose bytes stay in use. False when it is none.
bool start_parse(struct start *start, uint8_t *payload, size_t size);
// Starts it in a session of its own with exactly its environment; what it has no pipe for is `null`. 0, or the error number of what failed; the pipes are the caller's either way.
int start_execute(struct start *start, int null);
uint32_t get_u32(const uint8_t *at);
#endif
