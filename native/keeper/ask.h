// One question at a time to a keeper, from a command on its machine.
#ifndef KEEPER_ASK_H
#define KEEPER_ASK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame.h"

struct answer {
	bool ok;
	char code[32]; // of an ERR
};

// A connection to `sock` in the folder, which becomes the working directory for the moment. -1 with errno.
int ask_connect(int dir_fd);
// Sends a request and waits for its answer until a time on the monotonic clock; other frames are read over. Reads not one byte beyond the answer.
bool ask(int fd, enum request_type type, const uint8_t *body, uint32_t size, uint64_t until_ms, struct answer *answer);
#endif
