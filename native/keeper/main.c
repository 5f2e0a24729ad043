// orrery-keeper: starts one program confined, holds its streams and its tree, and outlives the node. See WIRE.md.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "keeper.h"

enum { MAX_SPEC = 8 << 20, MAX_ENV = 8 << 20, FIRST_FREE_FD = 3 };

static void say(const char *line) {
	// Nobody may listen any more; that is no reason to stop.
	if (!write_all(STDOUT_FILENO, line, strlen(line))) return;
}

// The client's descriptors end here; 0–2 stay open on /dev/null so that nothing else takes their numbers.
static bool detach_streams(void) {
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	bool done = null >= 0 && dup2(null, 0) >= 0 && dup2(null, 1) >= 0 && dup2(null, 2) >= 0;
	if (null > 2) close(null);
	return done;
}

static void close_inherited(void) {
	for (int fd = 0; fd < FIRST_FREE_FD; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd) _exit(EXIT_REFUSED);
	system_close_from(FIRST_FREE_FD);
}

// A session of its own. True in the keeper; the started process waits for it (or, with `detach`, for its line) and leaves.
static void own_session(bool detach) {
	if (!detach && (setsid() >= 0 || getsid(0) == getpid())) return;
	int line[2];
	if (!system_pipe(line)) exit(EXIT_REFUSED);
	pid_t child = fork();
	if (child < 0) exit(EXIT_REFUSED);
	if (child == 0) {
		setsid();
		dup2(line[1], STDOUT_FILENO);
		close(line[0]);
		close(line[1]);
		return;
	}
	close(line[1]);
	char text[512];
	size_t size = 0;
	for (ssize_t n; size < sizeof text && (n = read(line[0], text + size, sizeof text - size)) > 0;) size += (size_t)n;
	bool told = write_all(STDOUT_FILENO, text, size);
	int status = 0;
	if (!detach && waitpid(child, &status, 0) == child) _exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_LOST);
	_exit(told && size > 6 && memcmp(text, "ready ", 6) == 0 ? 0 : EXIT_REFUSED);
}

// Reads env and takes it away from the disk before anything else can fail.
static char **take_env(struct keeper *k, char **text, size_t *size, char *reason, size_t reason_size) {
	*text = read_file(k->dir_fd, "env", MAX_ENV, size);
	int failure = errno;
	if (unlinkat(k->dir_fd, "env", 0) != 0 && errno != ENOENT) failure = errno, free(*text), *text = NULL;
	if (!*text) {
		snprintf(reason, reason_size, "env:%s", errno_name(failure));
		return NULL;
	}
	char **env = env_split(*text, *size);
	if (!env) snprintf(reason, reason_size, "env:not NAME=value entries ended by NUL");
	return env;
}

static bool take_spec(struct keeper *k, char *reason, size_t reason_size) {
	size_t size = 0;
	char why[120] = "";
	struct stat stat_of;
	if (fstatat(k->dir_fd, "status", &stat_of, 0) == 0) {
		snprintf(reason, reason_size, "spec:this directory was used before");
		return false;
	}
	char *text = read_file(k->dir_fd, "spec", MAX_SPEC, &size);
	if (!text) snprintf(reason, reason_size, "spec:%s", errno_name(errno));
	else if (!spec_parse(&k->spec, text, size, why, sizeof why)) snprintf(reason, reason_size, "spec:%s", why);
	else return true;
	return false;
}

static bool prepare(struct keeper *k, mode_t program_umask, char *reason, size_t size) {
	char *env_text = NULL;
	size_t env_size = 0;
	char **env = take_env(k, &env_text, &env_size, reason, size);
	bool prepared = env && take_spec(k, reason, size) && launch_prepare(k, env, program_umask, reason, size);
	if (env_text) system_wipe(env_text, env_size);
	free(env);
	free(env_text);
	if (!prepared) return false;
	spool_begin(k);
	if (record_start(k) && viewer_listen(k)) return true;
	snprintf(reason, size, "setup:dir:%s", errno_name(errno));
	return false;
}

static int refuse(struct keeper *k, const char *reason) {
	char line[256];
	snprintf(k->exit.reason, sizeof k->exit.reason, "%s", reason);
	k->exit.ended_at_ms = wall_now_ms();
	if (k->inner_pid > 0) kill(k->inner_pid, SIGKILL);
	record_exit(k);
	cgroups_remove(&k->cgroups);
	snprintf(line, sizeof line, "refused %s\n", reason);
	for (char *c = line; c[1]; c++)
		if ((unsigned char)*c < 0x20) *c = '?';
	say(line);
	return EXIT_REFUSED;
}

static int command_run(const char *dir, bool detach) {
	static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE};
	struct keeper *k = calloc(1, sizeof *k);
	char reason[200] = "", line[128];
	close_inherited();
	own_session(detach);
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	mode_t program_umask = umask(077);
	if (!k || !(k->chunk = malloc(READ_CHUNK))) return EXIT_REFUSED;
	k->inner_pid = k->control = k->gate = k->status = k->terminal = k->stdin_fd = k->journal = k->listener = k->front.listener = k->wrapper_says = -1;
	for (int i = 0; i < STREAM_COUNT; i++) k->spools[i] = (struct spool){.file = -1, .source = -1};
	k->go_at = k->wall_at = k->release_at = k->watch_at = k->inner_at = UINT64_MAX;
	k->check_at = now_ms() + 5000;
	k->exit.code = -1;
	k->dir_fd = chdir(dir) == 0 ? open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (k->dir_fd < 0) {
		snprintf(line, sizeof line, "refused setup:dir:%s\n", errno_name(errno));
		say(line);
		return EXIT_REFUSED;
	}
	if (!record_identity(&k->identity)) return refuse(k, "setup:identity:EIO");
	if (!prepare(k, program_umask, reason, sizeof reason)) return refuse(k, reason);
	k->go_at = now_ms() + k->spec.go_timeout_ms;
	snprintf(line, sizeof line, "ready %d %llu %s\n", k->identity.pid, (unsigned long long)k->identity.start_ticks, k->identity.boot_id);
	say(line);
	if (!detach_streams()) run_lost(k, "setup:streams", errno);
	return run_loop(k);
}

int usage(const char *what) { return fail(EXIT_USAGE, "usage", what); }

static int unknown_command(void) {
	usage("unknown command; there are:");
	fprintf(stderr,
		"  run --dir DIR [--detach] | attach DIR [--from N] [--stream stdout|stderr] | reach DIR PORT\n"
		"  look DIR | spool DIR stdout|stderr [--from N] | settle DIR | sweep ROOT\n"
		"  put PATH --mode OCTAL [--make-parents OCTAL] [--size N] [--sync] | take PATH [--limit N] [--follow]\n"
		"  list DIR [--skip PATH]... | pack DIR [--from-stdin] | remove DIR [--from-stdin]\n"
		"  unpack DIR [--make] [--delete-stdin-first] [--keep-special] [--owner UID:GID]\n"
		"  relay --listen SOCKET [--mode OCTAL] [--silence-ms N] | feed -- COMMAND [ARG]... | probe | starter | version\n");
	return EXIT_USAGE;
}

static int parse_run(int count, char **words) {
	const char *dir = NULL;
	bool detach = false;
	for (int i = 0; i < count; i++) {
		if (strcmp(words[i], "--dir") == 0 && i + 1 < count && !dir) dir = words[++i];
		else if (strcmp(words[i], "--detach") == 0 && !detach) detach = true;
		else return usage("unknown, repeated or incomplete option of run");
	}
	return dir ? command_run(dir, detach) : usage("run needs --dir DIR");
}

static int parse_attach(int count, char **words) {
	int stream = -1;
	uint64_t from = 0;
	if (count < 1) return usage("attach needs a directory");
	for (int i = 1; i < count; i++) {
		char *end = NULL;
		if (i + 1 == count) return usage("option without a value");
		if (strcmp(words[i], "--from") == 0) {
			from = strtoull(words[++i], &end, 10);
			if (words[i][0] < '0' || words[i][0] > '9' || *end) return usage("--from needs an offset");
			if (stream < 0) stream = STREAM_STDOUT;
		} else if (strcmp(words[i], "--stream") == 0) {
			i++;
			if (strcmp(words[i], "stdout") && strcmp(words[i], "stderr")) return usage("--stream is stdout or stderr");
			stream = strcmp(words[i], "stderr") == 0 ? STREAM_STDERR : STREAM_STDOUT;
		} else return usage("unknown option of attach");
	}
	return command_attach(words[0], stream, from);
}

static const struct { const char *name; int (*run)(int count, char **words); } commands[] = {
	{"look", command_look}, {"spool", command_spool}, {"settle", command_settle}, {"sweep", command_sweep}, {"put", command_put}, {"take", command_take},
	{"list", command_list}, {"pack", command_pack}, {"unpack", command_unpack}, {"remove", command_remove}, {"relay", command_relay}, {"reach", command_reach},
	{"feed", command_feed},
};

// What passes through is in memory, which programs of the same user could read where no wall is between. Best effort: what
// cannot be hidden is reported by the run's own guarantees.
static void hide_from_neighbours(void) { (void)!system_hide_memory(); }

int main(int argc, char **argv) {
	if (argc >= 2 && strcmp(argv[1], "run") == 0) return parse_run(argc - 2, argv + 2);
	if (argc >= 2 && strcmp(argv[1], "attach") == 0) {
		hide_from_neighbours();
		return parse_attach(argc - 2, argv + 2);
	}
	if (argc == 2 && strcmp(argv[1], "probe") == 0) return command_probe();
	if (argc == 2 && strcmp(argv[1], "inside") == 0) return command_inside();
	if (argc == 2 && strcmp(argv[1], "starter") == 0) {
		close_inherited();
		return command_starter();
	}
	for (size_t i = 0; argc >= 2 && i < sizeof commands / sizeof *commands; i++)
		if (strcmp(argv[1], commands[i].name) == 0) {
			hide_from_neighbours();
			return commands[i].run(argc - 2, argv + 2);
		}
	if (argc == 2 && strcmp(argv[1], "version") == 0) return printf("orrery-keeper %s wire %d\n", KEEPER_VERSION, WIRE_VERSION) < 0;
	return unknown_command();
}
