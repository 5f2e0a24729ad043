// The commands of the binary besides `run`, and how they fail.
#ifndef KEEPER_COMMANDS_H
#define KEEPER_COMMANDS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How a command ends that did not do what it was asked; the first word of its line on stderr says which. See WIRE.md, "Failing".
enum { FAIL_SYSTEM = 1, FAIL_MISSING = 3, FAIL_TRIMMED, FAIL_LIMIT, FAIL_NOT_RUNNING, FAIL_NO_LISTENER, FAIL_BAD_STREAM, FAIL_NOT_EMPTY, FAIL_BUSY };

// One line on stderr, `orrery-keeper: <word>: <what>`; answers the exit code.
int fail(int code, const char *word, const char *what);
// For what the system refused, by errno; ENOENT is `missing`.
int fail_errno(const char *what);
// A line on stderr that ends nothing: `<word>: <what>`.
void note_line(const char *word, const char *what);
// Says how the binary is used; answers EXIT_USAGE.
int usage(const char *what);

// An option of a command. `value` NULL: not given; for a flag that was given it is "".
struct option { const char *name; bool is_flag; const char *value; };
// Takes the one path and the options out of `words`; false (after usage) when they are not exactly these.
bool take_words(int count, char **words, const char **path, struct option *options, size_t option_count);
// A number in `base`, whole and within `most`; false when it is none.
bool parse_number(const char *word, int base, uint64_t most, uint64_t *number);

// Relays stdin and stdout to DIR/sock. `stream` -1: no ATTACH first.
int command_attach(const char *dir, int stream, uint64_t from);
int command_probe(void);
// The inner process of a run with a wrapper, executed by it; nothing for people. Answers only when it is started otherwise.
int command_inside(void);
// Starts commands for whoever holds the other ends of stdin and stdout, until they are closed.
int command_starter(void);

// For a node that can reach this machine only by running commands. All take the words behind their name.
int command_look(int count, char **words);
int command_spool(int count, char **words);
int command_settle(int count, char **words);
int command_sweep(int count, char **words);
int command_put(int count, char **words);
int command_take(int count, char **words);
int command_list(int count, char **words);
int command_pack(int count, char **words);
int command_unpack(int count, char **words);
int command_remove(int count, char **words);
int command_relay(int count, char **words);
int command_reach(int count, char **words);
// Another command, its stdin in pieces on ours.
int command_feed(int count, char **words);
#endif
