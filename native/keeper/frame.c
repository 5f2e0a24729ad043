#include "frame.h"

#include <string.h>

void put_u32(uint8_t *at, uint32_t value) {
	for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> (8 * i));
}

void put_u64(uint8_t *at, uint64_t value) {
	for (int i = 0; i < 8; i++) at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get(const uint8_t *at, int bytes) {
	uint64_t value = 0;
	for (int i = 0; i < bytes; i++) value |= (uint64_t)at[i] << (8 * i);
	return value;
}

int64_t frame_payload_size(const uint8_t header[FRAME_HEADER]) {
	uint32_t size = (uint32_t)get(header, 4);
	uint32_t most = header[4] == REQUEST_INPUT ? MAX_PAYLOAD : 1024;
	return size > most ? -1 : (int64_t)size;
}

static bool parse_stream(struct request *r, const uint8_t *payload, uint32_t size, bool with_offset) {
	if (size != (with_offset ? 9u : 1u) || payload[0] < 1 || payload[0] > 2) return false;
	r->stream = payload[0] - 1;
	if (with_offset) r->offset = get(payload + 1, 8);
	return true;
}

static bool is_id_byte(uint8_t c) {
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == ':' || c == '-';
}

// The id, and what follows it as bytes.
static bool parse_id(struct request *r, const uint8_t *payload, uint32_t size, bool with_bytes) {
	if (size < 2) return false;
	uint32_t length = payload[0];
	if (length < 1 || length > MAX_ID || length > size - 1) return false;
	for (uint32_t i = 0; i < length; i++)
		if (!is_id_byte(payload[1 + i])) return false;
	memcpy(r->id, payload + 1, length);
	r->bytes = payload + 1 + length;
	r->size = size - 1 - length;
	return with_bytes ? r->size <= MAX_INPUT_BYTES : r->size == 0;
}

static bool parse_signal(struct request *r, const uint8_t *payload, uint32_t size) {
	if (size < 1 || size >= sizeof r->signal || memchr(payload, 0, size)) return false;
	memcpy(r->signal, payload, size);
	return true;
}

bool request_parse(struct request *r, uint8_t type, const uint8_t *payload, uint32_t size) {
	memset(r, 0, sizeof *r);
	if (size < 4) return false;
	r->type = (enum request_type)type;
	r->tag = (uint32_t)get(payload, 4);
	payload += 4;
	size -= 4;
	switch (type) {
	case REQUEST_ATTACH:
	case REQUEST_RELEASE: return parse_stream(r, payload, size, true);
	case REQUEST_DETACH: return parse_stream(r, payload, size, false);
	case REQUEST_INPUT: return parse_id(r, payload, size, true);
	case REQUEST_INPUT_STATE: return parse_id(r, payload, size, false);
	case REQUEST_RESIZE:
		if (size != 4) return false;
		r->columns = (uint16_t)get(payload, 2);
		r->rows = (uint16_t)get(payload + 2, 2);
		return r->columns > 0 && r->rows > 0;
	case REQUEST_REACH:
		if (size != 2) return false;
		r->port = (uint16_t)get(payload, 2);
		return r->port > 0;
	case REQUEST_SIGNAL: return parse_signal(r, payload, size);
	case REQUEST_GO:
	case REQUEST_CLOSE_INPUT:
	case REQUEST_TERMINATE:
	case REQUEST_KILL:
	case REQUEST_WAIT:
	case REQUEST_STATUS:
	case REQUEST_FINISH: return size == 0;
	default: return false;
	}
}
