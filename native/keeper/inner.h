// The inner process: first process of the run's pid namespace, or its guard (subreaper) where there is none.
// It builds the namespaces' inside, starts the program, reaps, and ends everything when its keeper is gone.
#ifndef KEEPER_INNER_H
#define KEEPER_INNER_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "spec.h"

// What the namespaces really gave.
struct facts {
	bool user_ns, pid_ns, mount_ns, net_ns, ipc_ns;
	bool own_proc, proc_sys_readonly, world_readonly, readonly_paths, loopback;
	bool own_shm, own_terminals;
	bool wrapped; // the walls are another program's work; these facts are what was found inside
	bool passes_terminal; // the facts come with the master of a terminal from the run's own devpts
	int landlock_abi;
	int front_error;   // errno of the front's listener
	char missing[120]; // first thing that failed: "<step>:<errno>"
};

enum message_kind { MESSAGE_FACTS = 1, MESSAGE_EXIT, MESSAGE_GONE, MESSAGE_SIGNAL, MESSAGE_END, MESSAGE_REACH, MESSAGE_REACHED, MESSAGE_STARTED };

struct message {
	enum message_kind kind;
	int value; // EXIT: wait status · SIGNAL: number · STARTED: pid, which becomes a group · REACH: port · REACHED: errno, or 0 and a socket is passed that connects
	bool more; // EXIT: other processes are left
	uint64_t ticket; // REACH, REACHED: which
	uint64_t user_ms, system_ms, max_rss_bytes;
	struct facts facts;
};

// What the program tells on its status pipe: 'R' ready behind the gate · 'F' a step failed · 'X' exec failed.
struct report {
	char kind;
	int error;
	char step[120];
};

// The ends of pipes that belong to the program's side.
struct inner_ends {
	int control;
	int gate;   // one byte: go. End of file: never
	int status; // struct report; closed by exec
	int stdio[3];
	int terminal; // slave side, or -1
	int cgroup_procs[2];
	bool processes_grouped; // one of these groups bounds processes, and tells when it refused one
	int keeper_ends[8]; // to be closed on the program's side
	mode_t umask;
};

// Never returns.
_Noreturn void inner_main(const struct spec *spec, char **env, const struct inner_ends *ends, struct facts facts);
// wrap.c: a run whose walls another program (bubblewrap) builds around the inner process.
// Executes the wrapper with what the inner process needs left open for it; returns only when that cannot be, with errno.
void wrap_execute(const struct spec *spec, int dir_fd, char **env, const struct inner_ends *ends);
// What a wrapper really built, seen from inside; `facts` knows the namespaces already.
void wrap_look(const struct spec *spec, struct facts *facts);
// Sets the program up and executes it; never returns.
_Noreturn void program_main(const struct spec *spec, char **env, const struct inner_ends *ends, const struct facts *facts);
// `passed` are up to two descriptors; -1 ones are left out.
enum { MAX_PASSED = 2 };
bool message_send(int fd, const struct message *message, const int passed[MAX_PASSED]);
#endif
