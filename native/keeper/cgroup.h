// Control groups for memory and processes, version 1 or 2, where this process may make some.
#ifndef KEEPER_CGROUP_H
#define KEEPER_CGROUP_H
#include <stdbool.h>
#include <stdint.h>

enum { MAX_CGROUPS = 2, CGROUP_PATH = 512 };
struct cgroups {
	char paths[MAX_CGROUPS][CGROUP_PATH];
	bool memory[MAX_CGROUPS], processes[MAX_CGROUPS], version2[MAX_CGROUPS];
	int count;
};

// Makes what the limits ask for; what could not be made is not in `cgroups`.
void cgroups_make(struct cgroups *cgroups, uint64_t memory_bytes, uint64_t max_processes, int pid, uint64_t start_ticks);
bool cgroups_hold(const struct cgroups *cgroups, bool memory);
// Descriptors of the groups' member lists for a process to join by; -1 where there is none.
void cgroups_open_members(const struct cgroups *cgroups, int fds[MAX_CGROUPS]);
// Did the kernel end somebody for memory, or refuse somebody a process?
bool cgroups_hit_memory(const struct cgroups *cgroups);
bool cgroups_hit_processes(const struct cgroups *cgroups);
void cgroups_remove(struct cgroups *cgroups);
#endif
