// The broker front: one loopback port of the run; each connection is passed to a Unix socket of the node, unchanged.
#ifndef KEEPER_FRONT_H
#define KEEPER_FRONT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct keeper;
struct front_link;
struct front {
	int listener; // -1: none
	struct front_link *links;
	int count, held;
};

// A listener on 127.0.0.1 of the calling process's network namespace; -1 with errno. `shared`: other keepers of the same
// user may listen on the same port.
int front_listen(uint16_t port, bool shared);
bool front_has_room(const struct keeper *k);
// Takes over two connected sockets and passes bytes both ways until both ends are over; `first` are bytes for `node` that go ahead.
// False, and both are still the caller's, when there are too many links.
bool front_join(struct keeper *k, int program, int node, const uint8_t *first, size_t first_size);
void front_poll(struct keeper *k);
void front_sweep(struct keeper *k);
void front_close(struct keeper *k);
#endif
