// Says of each guarantee whether it is held, by what, and what is missing. Never more than was really built.
#include <stdio.h>
#include <string.h>

#include "keeper.h"

enum { ABI_REFER = 2, ABI_TRUNCATE = 3, ABI_NET = 4, ABI_IOCTL = 5, ABI_SCOPES = 6 };

// What is not mounted inside cannot be named there: no Landlock is needed for that.
static void judge_wrapped_files(struct keeper *k, const struct facts *f, struct guarantee_state *g) {
	bool paths = !k->spec.readonly_count || f->readonly_paths;
	g->held = f->mount_ns && f->world_readonly && paths;
	snprintf(g->by, sizeof g->by, "mount namespace that holds only what is granted, read-only mounts%s", k->spec.readonly_count && f->readonly_paths ? ", read-only paths" : "");
	if (f->landlock_abi) snprintf(g->by + strlen(g->by), sizeof g->by - strlen(g->by), ", Landlock ABI %d", f->landlock_abi);
	if (!g->held) snprintf(g->missing, sizeof g->missing, "%s", f->missing);
	else if (!f->landlock_abi) snprintf(g->missing, sizeof g->missing, "files in paths granted for reading or writing alone can be executed (no Landlock)");
}

static void judge_files(struct keeper *k, const struct facts *f, struct guarantee_state *g) {
	if (f->wrapped) {
		judge_wrapped_files(k, f, g);
		return;
	}
	// Landlock before ABI 3 lets truncate(2) through; a world that is mounted read-only does not.
	bool truncate = f->landlock_abi >= ABI_TRUNCATE || (f->landlock_abi >= ABI_REFER && f->world_readonly);
	g->held = truncate && (!k->spec.readonly_count || f->readonly_paths);
	if (f->landlock_abi) snprintf(g->by, sizeof g->by, "Landlock ABI %d%s%s", f->landlock_abi, f->world_readonly ? ", read-only mounts" : "", k->spec.readonly_count && f->readonly_paths ? ", read-only paths" : "");
	else snprintf(g->by, sizeof g->by, "nothing");
	if (!f->landlock_abi) snprintf(g->missing, sizeof g->missing, "this kernel has no Landlock, or it is switched off (Linux 6.2 or newer, lsm=landlock)");
	else if (!truncate) snprintf(g->missing, sizeof g->missing, "truncating files outside is not stopped%s (Linux 6.2 or newer)", f->landlock_abi < ABI_REFER ? ", moving between folders fails" : "");
	else if (k->spec.readonly_count && !f->readonly_paths) snprintf(g->missing, sizeof g->missing, "read-only paths need a mount namespace (%s)", f->missing[0] ? f->missing : "none");
	else if (!f->world_readonly) snprintf(g->missing, sizeof g->missing, "changing modes, times and attributes outside is not stopped (no mount namespace)");
	else if (f->landlock_abi < ABI_TRUNCATE) snprintf(g->missing, sizeof g->missing, "truncating files on mounts made during the run, and ioctl on devices, are not stopped (Linux 6.2 or newer)");
	else if (f->landlock_abi < ABI_IOCTL) snprintf(g->missing, sizeof g->missing, "ioctl on devices is not stopped (Linux 6.10 or newer)");
}

static void judge_network(struct keeper *k, const struct facts *f, struct guarantee_state *network, struct guarantee_state *hosts) {
	if (!k->spec.network_none) {
		snprintf(network->by, sizeof network->by, "nothing");
		snprintf(network->missing, sizeof network->missing, "the run has the machine's network");
		*hosts = *network;
	} else if (f->net_ns && f->loopback) {
		network->held = hosts->held = true;
		snprintf(network->by, sizeof network->by, "network namespace with loopback only, seccomp");
		snprintf(hosts->by, sizeof hosts->by, "network namespace whose only way out is the front");
	} else if (f->net_ns) {
		snprintf(network->by, sizeof network->by, "network namespace, seccomp");
		snprintf(network->missing, sizeof network->missing, "loopback does not come up (%s)", f->missing);
		*hosts = *network;
	} else if (f->landlock_abi >= ABI_NET) {
		network->held = true;
		snprintf(network->by, sizeof network->by, "Landlock port rules, seccomp");
		snprintf(network->missing, sizeof network->missing, "no network namespace: servers of the program's own cannot be reached");
		snprintf(hosts->by, sizeof hosts->by, "Landlock port rules");
		snprintf(hosts->missing, sizeof hosts->missing, "no network namespace: any host can be reached on the front's port number");
	} else {
		snprintf(network->by, sizeof network->by, "seccomp");
		snprintf(network->missing, sizeof network->missing, "TCP to anywhere is open: neither network namespaces nor Landlock port rules (Linux 6.7 or newer)");
		*hosts = *network;
	}
}

static void judge_processes(struct keeper *k, const struct facts *f, struct guarantee_state *g) {
	g->held = f->pid_ns && f->own_proc && f->proc_sys_readonly && f->ipc_ns;
	if (f->pid_ns) snprintf(g->by, sizeof g->by, "pid and ipc namespaces%s%s, seccomp, no capabilities", f->own_proc ? ", own /proc" : "", f->proc_sys_readonly ? ", /proc/sys read-only" : "");
	else snprintf(g->by, sizeof g->by, "seccomp, no capabilities");
	if (g->held) return;
	if (!k->spec.processes) snprintf(g->missing, sizeof g->missing, "not asked for");
	else if (!f->pid_ns) snprintf(g->missing, sizeof g->missing, "no pid namespace: names and command lines of other processes can be read (%s)", f->missing[0] ? f->missing : "user namespaces are not allowed");
	else snprintf(g->missing, sizeof g->missing, "%s", f->missing);
}

static void judge_signals(struct keeper *k, const struct facts *f, struct guarantee_state *g) {
	bool scoped = k->spec.processes && f->landlock_abi >= ABI_SCOPES;
	g->held = scoped || (f->pid_ns && (f->net_ns || !k->spec.unix_sockets));
	snprintf(g->by, sizeof g->by, "%s%s%s", scoped ? "Landlock scopes" : "", scoped && f->pid_ns ? ", " : "", f->pid_ns ? "pid namespace" : scoped ? "" : "nothing");
	if (!g->held) snprintf(g->missing, sizeof g->missing, k->spec.processes ? "no pid namespace and no Landlock scopes (Linux 6.12 or newer)" : "not asked for");
}

// Limits that can be asked without being held exactly are sampled by the keeper; that is said.
static void judge_limits(struct keeper *k, const struct facts *f, struct guarantee_state *g) {
	const struct limit_spec *limits = &k->spec.limits;
	bool memory_sampled = limits->memory_bytes && !cgroups_hold(&k->cgroups, true);
	bool processes_sampled = limits->max_processes && !cgroups_hold(&k->cgroups, false) && !f->user_ns;
	g->held = true;
	snprintf(g->by, sizeof g->by, "keeper (wall, output), rlimits (cpu, file%s)%s%s", limits->max_processes && !cgroups_hold(&k->cgroups, false) && f->user_ns ? ", processes" : "",
		k->cgroups.count ? ", cgroup" : "", memory_sampled || processes_sampled ? ", looks every 250 ms" : "");
	if (memory_sampled || processes_sampled)
		snprintf(g->missing, sizeof g->missing, "%s%s%s can pass the bound for up to 250 ms (no cgroup may be made here)", memory_sampled ? "memory" : "", memory_sampled && processes_sampled ? " and " : "", processes_sampled ? "processes" : "");
}

void guarantee_judge(struct keeper *k, const struct facts *facts) {
	struct guarantee_state *g = k->guarantees;
	memset(g, 0, sizeof k->guarantees);
	judge_limits(k, facts, &g[GUARANTEE_LIMITS]);
	if (k->spec.confine) {
		judge_files(k, facts, &g[GUARANTEE_FILES]);
		judge_network(k, facts, &g[GUARANTEE_NETWORK], &g[GUARANTEE_HOSTS]);
		judge_processes(k, facts, &g[GUARANTEE_PROCESSES]);
		judge_signals(k, facts, &g[GUARANTEE_SIGNALS]);
		return;
	}
	for (int i = 0; i < GUARANTEE_LIMITS; i++) {
		snprintf(g[i].by, sizeof g[i].by, "nothing");
		snprintf(g[i].missing, sizeof g[i].missing, "the run is not confined");
	}
}
