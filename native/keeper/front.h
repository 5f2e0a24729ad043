// The broker front: one loopback port of the run; each connection is passed to a Unix socket of the node, unchanged.
#ifndef KEEPER_FRONT_H
#define KEEPER_FRONT_H
#include <stdbool.h>
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
void front_poll(struct keeper *k);
void front_sweep(struct keeper *k);
void front_close(struct keeper *k);
#endif
