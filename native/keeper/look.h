// What a run's folder and /proc tell about its keeper, without asking it.
#ifndef KEEPER_LOOK_H
#define KEEPER_LOOK_H
#include <stdbool.h>
#include <stdint.h>

struct look {
	bool has_identity, alive; // alive: a process with exactly that identity is there and no zombie
	int pid;
	uint64_t start_ticks;
	char boot_id[40];
	char current_boot_id[40];
	uint64_t bytes[2], released[2]; // stdout, stderr
	char *exit; // JSON, or NULL; the caller frees
};

// Looks; false with errno when the kernel does not tell the boot's id.
bool look_at(int dir_fd, struct look *look);
// Released offsets of both streams; zeros when nothing was released.
void look_released(int dir_fd, uint64_t released[2]);
#endif
