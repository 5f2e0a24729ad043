// Tries a confined run as far as the closed gate and says what came of it.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "commands.h"
#include "confine.h"
#include "keeper.h"
#include "tree.h"

static const char probe_spec[] =
	"version 1\ncommand /bin/true\ncwd /\nstdio piped\nconfine 1\nfile rox /\nnetwork none\nprocesses 1\nunix-sockets 0\n"
	"memory-bytes 268435456\nmax-processes 64\noutput-bytes 1\nspool-window-bytes 1\ngo-timeout-ms 1\nrelease-timeout-ms 1\n";

static void print_kernel(const struct keeper *k, bool prepared, const char *reason, struct text *into) {
	struct utsname name = {0};
	uname(&name);
	text_print(into, "\"kernel\":{\"release\":");
	text_json(into, name.release);
	text_print(into, ",\"machine\":");
	text_json(into, name.machine);
	text_print(into, ",\"landlockAbi\":%d,\"root\":%s,\"memoryCgroup\":%s,\"processesCgroup\":%s,\"failed\":", landlock_abi(), geteuid() == 0 ? "true" : "false",
		cgroups_hold(&k->cgroups, true) ? "true" : "false", cgroups_hold(&k->cgroups, false) ? "true" : "false");
	text_json(into, prepared ? NULL : reason);
	text_print(into, "}");
}

int command_probe(void) {
	struct keeper *k = calloc(1, sizeof *k);
	char *text = malloc(sizeof probe_spec + 1), reason[160] = "";
	char *env[] = {NULL};
	if (!k || !text) return 1;
	memcpy(text, probe_spec, sizeof probe_spec);
	k->dir_fd = k->inner_pid = k->control = k->gate = k->status = k->terminal = k->stdin_fd = k->front.listener = k->wrapper_says = -1;
	k->spools[0].source = k->spools[1].source = -1;
	if (!record_identity(&k->identity) || !spec_parse(&k->spec, text, sizeof probe_spec - 1, reason, sizeof reason)) return 1;
	bool prepared = launch_prepare(k, env, 022, reason, sizeof reason);
	if (!prepared) guarantee_judge(k, &(struct facts){0}); // nothing could be built: nothing is held
	struct text json = {0};
	text_print(&json, "{\"guarantees\":");
	record_guarantees_json(k->guarantees, &json);
	text_print(&json, ",");
	print_kernel(k, prepared, reason, &json);
	text_print(&json, "}\n");
	if (k->inner_pid > 0) kill(k->inner_pid, SIGKILL);
	tree_end(k->program_group);
	cgroups_remove(&k->cgroups);
	bool told = !json.failed && write_all(STDOUT_FILENO, json.bytes, json.size);
	text_free(&json);
	spec_free(&k->spec);
	free(k);
	return told ? 0 : 1;
}
