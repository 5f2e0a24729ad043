// Points at which a test build can be made to die as by kill -9 (KEEPER_FAULT=<name>); nothing in a real build.
#ifndef KEEPER_FAULTS_H
#define KEEPER_FAULTS_H
#ifdef KEEPER_FAULTS
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static inline void fault_point(const char *name) {
	const char *wanted = getenv("KEEPER_FAULT");
	if (wanted && strcmp(wanted, name) == 0) kill(getpid(), SIGKILL);
}
#else
#define fault_point(name) ((void)0)
#endif
#endif
