// What a keeper writes down about itself: status, guarantees, exit. Formats: WIRE.md, "DIR".
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "faults.h"
#include "keeper.h"

enum { RESERVED_BYTES = 4096 };
static const char reserved_name[] = "exit.tmp";

bool record_identity(struct identity *identity) {
	if (!system_boot_id(identity->boot_id)) return false;
	identity->pid = getpid();
	identity->start_ticks = start_ticks_of(identity->pid);
	return identity->start_ticks > 0;
}

static void print_identity(const struct identity *identity, struct text *into) {
	text_print(into, "\"version\":%d,\"pid\":%d,\"startTicks\":%llu,\"bootId\":", WIRE_VERSION, identity->pid, (unsigned long long)identity->start_ticks);
	text_json(into, identity->boot_id);
}

void record_guarantees_json(const struct guarantee_state guarantees[GUARANTEE_COUNT], struct text *into) {
	text_print(into, "[");
	for (int i = 0; i < GUARANTEE_COUNT; i++) {
		const struct guarantee_state *g = &guarantees[i];
		text_print(into, "%s{\"guarantee\":\"%s\",\"held\":%s,\"by\":", i ? "," : "", guarantee_names[i], g->held ? "true" : "false");
		text_json(into, g->by);
		text_print(into, ",\"missing\":");
		text_json(into, g->missing[0] ? g->missing : NULL);
		text_print(into, "}");
	}
	text_print(into, "]");
}

bool record_start(struct keeper *k) {
	struct text guarantees = {0}, status = {0};
	record_guarantees_json(k->guarantees, &guarantees);
	text_print(&guarantees, "\n");
	text_print(&status, "{");
	print_identity(&k->identity, &status);
	text_print(&status, ",\"cgroups\":[");
	for (int i = 0; i < k->cgroups.count; i++) {
		text_print(&status, "%s", i ? "," : "");
		text_json(&status, k->cgroups.paths[i]);
	}
	text_print(&status, "]}\n");
	bool written = replace_file(k->dir_fd, "guarantees", &guarantees, false) && replace_file(k->dir_fd, "status", &status, false);
	text_free(&guarantees);
	text_free(&status);
	return written;
}

bool record_reserve(struct keeper *k) {
	int fd = openat(k->dir_fd, reserved_name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) return false;
	bool reserved = system_reserve(fd, RESERVED_BYTES);
	int failure = errno;
	close(fd);
	errno = failure;
	return reserved;
}

void record_exit_json(const struct keeper *k, struct text *into) {
	const struct exit_record *e = &k->exit;
	text_print(into, "{\"code\":");
	text_print(into, e->code >= 0 ? "%d" : "null", e->code);
	text_print(into, ",\"signal\":");
	text_json(into, e->signal ? signal_name(e->signal) : NULL);
	text_print(into, ",\"limit\":");
	text_json(into, e->limit);
	text_print(into, ",\"reason\":");
	text_json(into, e->reason[0] ? e->reason : NULL);
	text_print(into, ",\"startedAtMs\":");
	text_print(into, e->started_at_ms ? "%llu" : "null", (unsigned long long)e->started_at_ms);
	text_print(into, ",\"endedAtMs\":%llu,\"userMs\":%llu,\"systemMs\":%llu,\"maxRssBytes\":%llu", (unsigned long long)e->ended_at_ms,
		(unsigned long long)e->user_ms, (unsigned long long)e->system_ms, (unsigned long long)e->max_rss_bytes);
	text_print(into, ",\"stdoutBytes\":%llu,\"stderrBytes\":%llu}", (unsigned long long)k->spools[0].end, (unsigned long long)k->spools[1].end);
}

void record_hello_json(const struct keeper *k, struct text *into) {
	static const char *const states[] = {"waiting", "running", "ending", "ended"};
	text_print(into, "{");
	print_identity(&k->identity, into);
	text_print(into, ",\"state\":\"%s\",\"stdoutBytes\":%llu,\"stderrBytes\":%llu,\"stdoutReleased\":%llu,\"stderrReleased\":%llu,\"guarantees\":", states[k->state],
		(unsigned long long)k->spools[0].end, (unsigned long long)k->spools[1].end, (unsigned long long)k->spools[0].released, (unsigned long long)k->spools[1].released);
	record_guarantees_json(k->guarantees, into);
	text_print(into, ",\"exit\":");
	if (k->state == RUN_ENDED && !k->exit_lost) record_exit_json(k, into);
	else text_print(into, "null");
	text_print(into, "}");
}

// Writes into a reserved file, so that a full disk cannot take the record away.
static bool write_reserved(struct keeper *k, const struct text *record) {
	int fd = openat(k->dir_fd, reserved_name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) return false;
	bool done = !record->failed && pwrite_all(fd, record->bytes, record->size, 0) && ftruncate(fd, (off_t)record->size) == 0 && fsync(fd) == 0;
	fault_point("exit-written");
	if (close(fd) != 0) done = false;
	return done && renameat(k->dir_fd, reserved_name, k->dir_fd, "exit") == 0 && fsync(k->dir_fd) == 0;
}

// The second time on a full disk: within the block the first record has, so that nothing new is needed.
static bool overwrite(struct keeper *k, struct text *record) {
	struct stat before;
	int fd = openat(k->dir_fd, "exit", O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0) return false;
	bool done = fstat(fd, &before) == 0;
	while (done && record->size < (size_t)before.st_size && !record->failed) text_print(record, "\n"); // in one write, never shorter
	done = done && !record->failed && pwrite_all(fd, record->bytes, record->size, 0) && fsync(fd) == 0;
	close(fd);
	return done;
}

bool record_exit(struct keeper *k) {
	struct text record = {0};
	record_exit_json(k, &record);
	text_print(&record, "\n");
	bool written = write_reserved(k, &record);
	int failure = errno;
	if (!written && k->exit_recorded) written = overwrite(k, &record);
	if (written) k->exit_recorded = true;
	text_free(&record);
	errno = failure;
	return written;
}
