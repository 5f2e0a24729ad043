// One keeper: everything it knows. One of these exists per process; it is handed to every function that needs it.
#ifndef KEEPER_KEEPER_H
#define KEEPER_KEEPER_H
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cgroup.h"
#include "front.h"
#include "inner.h"
#include "spec.h"
#include "system.h"
#include "text.h"

#define KEEPER_VERSION "0.1.0"
enum { WIRE_VERSION = 1, EXIT_FINISHED = 0, EXIT_NO_GO = 124, EXIT_REFUSED = 125, EXIT_LOST = 126, EXIT_USAGE = 64 };
enum { STREAM_STDOUT, STREAM_STDERR, STREAM_COUNT };
enum { MAX_POLL = 1024, READ_CHUNK = 64 << 10 };

struct identity {
	int pid;
	uint64_t start_ticks;
	char boot_id[40];
};

struct exit_record {
	int code; // -1: none
	int signal; // 0: none
	const char *limit; // NULL: none
	char reason[160]; // "": none
	uint64_t started_at_ms, ended_at_ms; // 0: never
	uint64_t user_ms, system_ms, max_rss_bytes;
	uint64_t stdout_bytes, stderr_bytes;
};

// waiting: for go · running · ending: the program ended or is being ended, the rest of the tree too · ended: nothing is left
enum run_state { RUN_WAITING, RUN_RUNNING, RUN_ENDING, RUN_ENDED };

struct spool {
	int file;
	int source; // read end of the pipe or master of the terminal; -1 after its end
	uint64_t end, released, punched;
	bool ended; // no more bytes can come
};

struct guarantee_state {
	bool held;
	char by[160];
	char missing[200]; // "": nothing
};

struct viewer;
struct input;
struct keeper;
typedef void poll_handler(struct keeper *k, void *context, short events);

// What the loop waits for; filled anew before each wait.
struct poll_set {
	struct pollfd fds[MAX_POLL];
	struct { poll_handler *handler; void *context; } calls[MAX_POLL];
	int count;
	uint64_t wake_at; // monotonic ms; UINT64_MAX: never
};

struct keeper {
	int dir_fd;
	struct spec spec;
	struct identity identity;
	enum run_state state;
	struct guarantee_state guarantees[GUARANTEE_COUNT];
	struct cgroups cgroups;

	int inner_pid, control, gate, status; // -1 when closed
	int program_group; // as the inner process sees it; 0 before it was told
	int wrapper_says; // what a wrapper writes to stderr until the inner process stands; -1 otherwise
	bool exec_failed, program_ended, inner_gone, lost;
	uint64_t go_at, wall_at, release_at, check_at, watch_at, inner_at; // deadlines; UINT64_MAX: none
	struct exit_record exit;
	bool exit_recorded; // a first version is on disk
	bool exit_lost; // the final one could not be written: nobody is told it
	bool leave;
	int leave_code;

	struct spool spools[STREAM_COUNT];
	int terminal; // master, also the source of stdout; -1 without one
	int stdin_fd; // write end; the master with a terminal; -1 when closed
	bool close_requested;
	int journal;
	struct input *inputs; // oldest first: written, under way, waiting
	uint64_t input_queued;

	int listener;
	struct viewer *viewers;
	struct reach *reaches;
	uint64_t last_ticket;
	struct front front;
	struct poll_set poll;
	uint8_t *chunk; // READ_CHUNK + room for a frame's head
};

void poll_add(struct keeper *k, int fd, short events, poll_handler *handler, void *context);
void poll_wake_at(struct keeper *k, uint64_t at);

// spool.c
void spool_begin(struct keeper *k);
void spool_poll(struct keeper *k);
void spool_drain(struct keeper *k); // reads what is left, whatever the window says, and ends both
void spool_release(struct keeper *k, int stream, uint64_t offset);

// input.c
struct viewer_tag { struct viewer *viewer; uint32_t tag; };
void input_poll(struct keeper *k);
void input_add(struct keeper *k, const char *id, const uint8_t *bytes, uint32_t size, struct viewer_tag from);
void input_close(struct keeper *k, struct viewer_tag from);
void input_settle(struct keeper *k); // the program ended: gives up what is not written
void input_forget_viewer(struct keeper *k, const struct viewer *viewer);
void input_state_json(struct keeper *k, const char *id, struct text *into);

// viewer.c
bool viewer_listen(struct keeper *k);
void viewer_poll(struct keeper *k);
void viewer_sweep(struct keeper *k); // frees closed ones
void viewer_tell_changes(struct keeper *k); // answers GO, WAIT, KILL as far as the state allows
void viewer_last_word(struct keeper *k, const char *code, const char *message);
void answer_ok(struct viewer_tag to, const struct text *json);
void answer_error(struct viewer_tag to, const char *code, const char *message);

// For reach.c: a viewer that has asked for nothing else can become a pipe; until then it is served nothing more.
bool viewer_is_free(const struct viewer *v);
void viewer_pause(struct viewer *v, bool pause);
// Says OK and joins the connection to `fd`; false when it is not taken, with what is wrong told to the viewer.
bool viewer_join(struct viewer *v, uint32_t tag, int fd);

// reach.c: a viewer's connection becomes a pipe to a port of the run's own loopback
void reach_begin(struct keeper *k, struct viewer_tag from, uint16_t port);
void reach_answer(struct keeper *k, const struct message *message, int fd); // takes `fd`; -1: none
void reach_poll(struct keeper *k);
void reach_forget_viewer(struct keeper *k, const struct viewer *viewer);
void reach_settle(struct keeper *k); // the run is over

// record.c
bool record_identity(struct identity *identity);
bool record_start(struct keeper *k); // status, guarantees
bool record_reserve(struct keeper *k); // room for the exit record before the disk can be full
bool record_exit(struct keeper *k);
void record_exit_json(const struct keeper *k, struct text *into);
void record_hello_json(const struct keeper *k, struct text *into);
void record_guarantees_json(const struct guarantee_state guarantees[GUARANTEE_COUNT], struct text *into);

// guarantee.c
void guarantee_judge(struct keeper *k, const struct facts *facts);

// launch.c: up to the closed gate. False: `reason` says why not, and nothing is left.
bool launch_prepare(struct keeper *k, char **env, mode_t program_umask, char *reason, size_t reason_size);

// clone.c and what it needs: the inner process, in whatever namespaces could be had. False with errno.
bool launch_start_inner(struct keeper *k, char **env, struct inner_ends *ends, struct facts *facts);
bool launch_receive_facts(struct keeper *k, struct facts *facts);
void launch_end_inner(struct keeper *k);

// run.c
void run_go(struct keeper *k);
void run_terminate(struct keeper *k);
void run_end(struct keeper *k, const char *limit, const char *reason); // the whole tree, without asking
void run_lost(struct keeper *k, const char *code, int error); // disk or DIR gone
void run_signal(struct keeper *k, int number);
int run_loop(struct keeper *k);
#endif
