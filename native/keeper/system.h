// What kernels do differently. linux/ has all of it; portable/ what POSIX alone gives.
#ifndef KEEPER_SYSTEM_H
#define KEEPER_SYSTEM_H
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>

#ifdef __APPLE__
#define st_mtim st_mtimespec
#define st_ctim st_ctimespec
#define fdatasync fsync
#endif
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 // SIGPIPE is ignored wherever this is used
#endif
#ifndef NSIG
#define NSIG 65
#endif

// Descriptors: all are closed by exec. -1 or false with errno.
bool system_pipe(int ends[2]);
int system_socket(int domain); // a stream that does not block
int system_accept(int listener); // does not block
bool system_pair(int ends[2]); // carries whole messages, and descriptors
// Receives one message of that size and the descriptors with it, at most two; `*count` of them.
ssize_t system_receive(int fd, void *message, size_t size, int flags, int passed[2], int *count);
bool system_replace(int from, int to); // `to` becomes `from`
// Connects to a Unix socket whose path may be longer than an address, where the kernel can do that.
int system_connect_unix(const char *path);
void system_close_from(int first);
void system_close_on_exec_from(int first);

// A descriptor that is readable when one of the signals, which are blocked or caught from now on, came.
int system_signals(const sigset_t *mask);
// The next of them; false when there is none. `*number` 0: some.
bool system_next_signal(int fd, int *number);

// Processes.
bool system_boot_id(char boot_id[40]); // zeros where there is none
// Start time of a process in clock ticks (field 22 of its stat); 0 when it does not exist or is a zombie. 1 for all that exist where it cannot be known.
uint64_t start_ticks_of(int pid);
void system_kill(int pid, uint64_t start_ticks); // exactly that process, as well as can be
int system_peer(int fd); // who connected; 0 not here, -1 unknown
bool system_adopt_orphans(void); // of the whole tree below the caller
bool system_die_with_parent(void);
bool system_hide_memory(void); // from others of the same user
pid_t system_wait(int *status, struct rusage *usage); // like wait4 for any child, without waiting

// Files.
bool system_reserve(int fd, uint64_t size);
bool system_punch(int fd, uint64_t from, uint64_t until);
void system_wipe(void *bytes, size_t size);
#endif
