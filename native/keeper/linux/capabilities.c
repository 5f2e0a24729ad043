// No capability survives: not in the sets, not in the bounds, not by exec as root.
#include <linux/capability.h>
#include <stdbool.h>
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "confine.h"

#ifndef PR_CAP_AMBIENT
#define PR_CAP_AMBIENT 47
#endif
enum { AMBIENT_CLEAR_ALL = 4, SECUREBITS_NO_ROOT_LOCKED = 0x3 | 0xc | 0x40 | 0x80, LAST_POSSIBLE = 63 };

bool capabilities_drop(void) {
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
	struct __user_cap_data_struct sets[2] = {{0}};
	if (syscall(SYS_capget, &header, sets) != 0) return false;
	bool may_bound = (sets[0].effective & (1u << CAP_SETPCAP)) != 0;
	for (int capability = 0; may_bound && capability <= LAST_POSSIBLE; capability++) {
		if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) < 0) break; // past the kernel's last one
		if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) return false;
	}
	if (may_bound && prctl(PR_SET_SECUREBITS, SECUREBITS_NO_ROOT_LOCKED, 0, 0, 0) != 0) return false;
	if (prctl(PR_CAP_AMBIENT, AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL) return false;
	memset(sets, 0, sizeof sets);
	return syscall(SYS_capset, &header, sets) == 0;
}
