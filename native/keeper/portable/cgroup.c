#include "cgroup.h"

void cgroups_make(struct cgroups *cgroups, uint64_t memory_bytes, uint64_t max_processes, int pid, uint64_t start_ticks) {
	(void)memory_bytes, (void)max_processes, (void)pid, (void)start_ticks;
	cgroups->count = 0;
}

bool cgroups_hold(const struct cgroups *cgroups, bool memory) { return cgroups->count > 0 && memory; }

void cgroups_open_members(const struct cgroups *cgroups, int fds[MAX_CGROUPS]) {
	for (int i = cgroups->count; i < MAX_CGROUPS; i++) fds[i] = -1;
}

bool cgroups_hit_memory(const struct cgroups *cgroups) { return cgroups->count > 0; }
bool cgroups_hit_processes(const struct cgroups *cgroups) { return cgroups->count > 0; }
void cgroups_remove(struct cgroups *cgroups) { cgroups->count = 0; }
