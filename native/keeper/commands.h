// The commands of the binary besides `run`.
#ifndef KEEPER_COMMANDS_H
#define KEEPER_COMMANDS_H
#include <stdint.h>

// Relays stdin and stdout to DIR/sock. `stream` -1: no ATTACH first.
int command_attach(const char *dir, int stream, uint64_t from);
int command_probe(void);
// The inner process of a run with a wrapper, executed by it; nothing for people. Answers only when it is started otherwise.
int command_inside(void);
// Starts commands for whoever holds the other ends of stdin and stdout, until they are closed.
int command_starter(void);
#endif
