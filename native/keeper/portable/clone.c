// The inner process, where there are no namespaces: a guard beside the program.
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "confine.h"
#include "keeper.h"

bool launch_start_inner(struct keeper *k, char **env, struct inner_ends *ends, struct facts *facts) {
	int control[2];
	if (k->spec.wrapper_count) {
		errno = ENOSYS;
		return false;
	}
	if (!system_pair(control)) return false;
	pid_t pid = fork();
	if (pid == 0) {
		close(control[0]);
		ends->control = control[1];
		inner_main(&k->spec, env, ends, (struct facts){0});
	}
	int failure = errno;
	close(control[1]);
	if (pid < 0) {
		close(control[0]);
		errno = failure;
		return false;
	}
	k->control = control[0];
	k->inner_pid = pid;
	return launch_receive_facts(k, facts);
}
