#include "relay_frame.h"

static uint32_t get(const uint8_t *at) { return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24; }

static bool fits(struct relay_frame *f) {
	switch (f->type) {
	case RELAY_DATA: return f->id && f->size > 0 && f->size <= RELAY_PIECE;
	case RELAY_END:
	case RELAY_RESET: return f->id && f->size == 0;
	case RELAY_WINDOW:
		if (!f->id || f->size != 4) return false;
		f->window = get(f->bytes);
		return f->window > 0 && f->window <= RELAY_WINDOW_BYTES;
	case RELAY_PING:
	case RELAY_PONG: return !f->id && f->size <= RELAY_MOST_PING;
	case RELAY_OPEN:
	case RELAY_READY:
	default: return false;
	}
}

enum relay_parsed relay_parse(const uint8_t *bytes, size_t size, struct relay_frame *frame, size_t *used) {
	if (size < 4) return RELAY_PART;
	uint32_t length = get(bytes);
	if (length < 4 || length > 4 + RELAY_PIECE) return RELAY_BROKEN;
	if (size < FRAME_HEADER + (size_t)length) return RELAY_PART;
	*frame = (struct relay_frame){.type = (enum relay_type)bytes[4], .id = get(bytes + FRAME_HEADER), .bytes = bytes + RELAY_HEAD, .size = length - 4};
	*used = FRAME_HEADER + (size_t)length;
	return fits(frame) ? RELAY_WHOLE : RELAY_BROKEN;
}
