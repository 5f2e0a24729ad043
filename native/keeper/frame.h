// Frames of the socket and the requests in them. Format: WIRE.md, "Frames".
#ifndef KEEPER_FRAME_H
#define KEEPER_FRAME_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum request_type {
	REQUEST_GO = 1, REQUEST_ATTACH, REQUEST_DETACH, REQUEST_INPUT, REQUEST_CLOSE_INPUT, REQUEST_INPUT_STATE, REQUEST_RESIZE, REQUEST_SIGNAL,
	REQUEST_TERMINATE, REQUEST_KILL, REQUEST_WAIT, REQUEST_STATUS, REQUEST_RELEASE, REQUEST_FINISH, REQUEST_REACH
};
enum answer_type { ANSWER_HELLO = 0x80, ANSWER_OK, ANSWER_ERR, ANSWER_OUTPUT, ANSWER_EOF };
enum { FRAME_HEADER = 5, MAX_ID = 128, MAX_INPUT_BYTES = 16 << 20, MAX_PAYLOAD = MAX_INPUT_BYTES + 1024, OUTPUT_CHUNK = 64 << 10 };

struct request {
	enum request_type type;
	uint32_t tag;
	int stream; // 0 stdout, 1 stderr
	uint64_t offset;
	char id[MAX_ID + 1];
	const uint8_t *bytes; // into the frame
	uint32_t size;
	uint16_t columns, rows, port;
	char signal[16];
};

// Length of the payload that a header announces, or -1 when no client may send that.
int64_t frame_payload_size(const uint8_t header[FRAME_HEADER]);
// False when the frame is not a request of this protocol.
bool request_parse(struct request *request, uint8_t type, const uint8_t *payload, uint32_t size);

void put_u32(uint8_t *at, uint32_t value);
void put_u64(uint8_t *at, uint64_t value);
#endif
