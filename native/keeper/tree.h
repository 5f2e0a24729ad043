// Process trees, seen through /proc.
#ifndef KEEPER_TREE_H
#define KEEPER_TREE_H
#include <stdbool.h>
#include <stdint.h>

struct tree_usage {
	uint64_t processes, private_bytes, cpu_ms; // cpu includes what the tree has already reaped
};

// Adds up `root` (not counted as a process) and everything below it.
struct tree_usage tree_usage(int root);
// Is `pid` below `root`? Also true for a process that cannot be looked at any more: it cannot be told from one that is.
bool tree_may_hold(int root, int pid);
// Kills and reaps every descendant of the calling process until none is left; needs to be a subreaper to be complete.
void tree_end(void);
#endif
