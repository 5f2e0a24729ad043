// The walls around a program, in the order in which none takes away what the next one needs.
#include <stdio.h>
#include <sys/prctl.h>

#include "confine.h"

bool walls_build(const struct spec *spec, const struct facts *facts, char *step, size_t size) {
	snprintf(step, size, "setup:no-new-privs");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
	snprintf(step, size, "setup:landlock");
	if (facts->landlock_abi > 0 && !landlock_restrict(spec, facts, step, size)) return false;
	snprintf(step, size, "setup:capabilities");
	if (!capabilities_drop()) return false;
	snprintf(step, size, "setup:seccomp");
	return seccomp_restrict(spec, facts->ipc_ns);
}
