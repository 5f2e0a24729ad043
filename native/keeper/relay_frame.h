// Frames of the relay. Format: WIRE.md, "Relay".
#ifndef KEEPER_RELAY_FRAME_H
#define KEEPER_RELAY_FRAME_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame.h"

enum relay_type { RELAY_OPEN = 1, RELAY_DATA, RELAY_END, RELAY_RESET, RELAY_WINDOW, RELAY_PING, RELAY_PONG, RELAY_READY = 0x80 };
enum { RELAY_HEAD = FRAME_HEADER + 4, RELAY_PIECE = 32 << 10, RELAY_WINDOW_BYTES = 256 << 10, RELAY_MOST_PING = 64 };

struct relay_frame {
	enum relay_type type;
	uint32_t id; // of the connection; 0 for PING, PONG
	const uint8_t *bytes; // into the frame
	uint32_t size;
	uint32_t window; // WINDOW: bytes that may follow
};

enum relay_parsed { RELAY_WHOLE, RELAY_PART, RELAY_BROKEN };
// The first frame in `bytes`, which are all that came so far; `*used` is its length. BROKEN: a client says no such thing.
enum relay_parsed relay_parse(const uint8_t *bytes, size_t size, struct relay_frame *frame, size_t *used);
#endif
