// The walls, each on its own: namespaces' insides, Landlock, seccomp, capabilities.
#ifndef KEEPER_CONFINE_H
#define KEEPER_CONFINE_H
#include <stdbool.h>
#include <stddef.h>

#include "inner.h"
#include "spec.h"

// Clone flags for what the spec asks (0 for none); a user namespace is added where `with_user`.
int confine_clone_flags(const struct spec *spec, bool with_user);
// Maps the own user and group into a new user namespace; false with errno.
bool confine_map_user(unsigned uid, unsigned gid);
// Builds all walls around the calling process. False: `step` and errno tell.
bool walls_build(const struct spec *spec, const struct facts *facts, char *step, size_t size);
// Mounts and loopback inside new namespaces, or what a wrapper built; notes in `facts` what came out.
void confine_inside(const struct spec *spec, struct facts *facts);

// The kernel's Landlock ABI; 0 when there is none.
int landlock_abi(void);
// Restricts the calling process to the rules and the run's own devices; where the network should be none and no namespace
// gave that, TCP to the front's port. False: `step` and errno tell.
bool landlock_restrict(const struct spec *spec, const struct facts *facts, char *step, size_t step_size);

bool seccomp_restrict(const struct spec *spec, bool own_ipc);
bool capabilities_drop(void);
#endif
