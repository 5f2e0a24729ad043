// Process trees: through /proc, or as one process group.
#ifndef KEEPER_TREE_H
#define KEEPER_TREE_H
#include <stdbool.h>
#include <stdint.h>

struct tree_usage {
	uint64_t processes, private_bytes, cpu_ms; // cpu includes what the tree has already reaped
};

// Adds up `root` (not counted as a process) and everything below it.
struct tree_usage tree_usage(int root);
// Is `pid` below `root`? Also true for -1 and for a process that cannot be looked at any more: it cannot be told from one that is.
bool tree_may_hold(int root, int pid);
// Kills and reaps every descendant of the calling process until none is left; it has to have adopted orphans to be complete.
// Where no tree can be seen it is the process group `group` (0: none yet) and the own children.
void tree_end(int group);
#endif
