// The inner process: cloned into the namespaces that were asked for and can be had, or started by a wrapper.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "confine.h"
#include "keeper.h"

enum { EXIT_NO_USER_NAMESPACE = 77, EXIT_NO_WRAPPER = 78 };

// In the child: becomes the wrapper, which executes the inner process behind its walls.
_Noreturn static void wrap_inner(struct keeper *k, char **env, struct inner_ends *ends, int says) {
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0 && dup2(null, 0) == 0 && dup2(null, 1) == 1 && dup2(says, 2) == 2) wrap_execute(&k->spec, k->dir_fd, env, ends);
	dprintf(says, "%.80s: %s", k->spec.wrapper[0], errno_name(errno));
	_exit(EXIT_NO_WRAPPER);
}

// Clones the inner process into the namespaces of `flags`; false when that cannot be.
static bool clone_inner(struct keeper *k, char **env, struct inner_ends *ends, int flags, struct facts facts) {
	int control[2], says[2] = {-1, -1};
	unsigned uid = geteuid(), gid = getegid();
	if (!system_pair(control)) return false;
	if (k->spec.wrapper_count && pipe2(says, O_CLOEXEC | O_NONBLOCK) != 0) return false;
	facts.user_ns = (flags & CLONE_NEWUSER) != 0;
	facts.pid_ns = (flags & CLONE_NEWPID) != 0;
	facts.mount_ns = (flags & CLONE_NEWNS) != 0;
	facts.net_ns = (flags & CLONE_NEWNET) != 0;
	facts.ipc_ns = (flags & CLONE_NEWIPC) != 0;
	pid_t pid = (pid_t)syscall(SYS_clone, (unsigned long)(unsigned)flags | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) {
		close(control[0]);
		if (facts.user_ns && !confine_map_user(uid, gid)) _exit(EXIT_NO_USER_NAMESPACE);
		ends->control = control[1];
		if (k->spec.wrapper_count) wrap_inner(k, env, ends, says[1]);
		inner_main(&k->spec, env, ends, facts);
	}
	int failure = errno;
	close(control[1]);
	if (says[1] >= 0) close(says[1]);
	k->wrapper_says = says[0];
	if (pid < 0) close(control[0]);
	else k->control = control[0], k->inner_pid = pid;
	errno = failure;
	return pid > 0;
}

// Tries what was asked; then, as root without the right to, by a user namespace; then without namespaces, which is reported.
bool launch_start_inner(struct keeper *k, char **env, struct inner_ends *ends, struct facts *facts) {
	if (k->spec.wrapper_count) return clone_inner(k, env, ends, 0, (struct facts){0}) && launch_receive_facts(k, facts);
	bool root = geteuid() == 0;
	int plain = confine_clone_flags(&k->spec, false), with_user = confine_clone_flags(&k->spec, true);
	int attempts[3] = {root ? plain : with_user, with_user, 0}, refusal = 0;
	for (int i = 0; i < 3; i++) {
		if (i > 0 && attempts[i] == attempts[i - 1]) continue;
		struct facts wanted = {.landlock_abi = k->spec.confine ? landlock_abi() : 0};
		if (refusal && !attempts[i]) snprintf(wanted.missing, sizeof wanted.missing, "namespaces: %s", errno_name(refusal));
		if (clone_inner(k, env, ends, attempts[i], wanted)) {
			if (launch_receive_facts(k, facts)) return true;
			errno = EPERM; // the user namespace came, but not its map
			launch_end_inner(k);
		}
		refusal = errno;
	}
	errno = refusal;
	return false;
}
