// A container engine for tests: Docker's or Podman's, started in a folder of its own, with nothing of the machine's in it.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/** What a request is answered with. */
export type EngineAnswer = { readonly status: number; readonly text: string };

/** A running engine. Close it in any case; when the process that started it dies, it ends and is cleaned up by itself. */
export type TestEngine = {
  readonly kind: TestEngineKind;
  readonly socket: string;
  readonly directory: string;
  /** One request of the engine's own interface, for what tests arrange beside the code under test. */
  ask(method: string, path: string, body?: object | Readable): Promise<EngineAnswer>;
  close(): Promise<void>;
};

/** Which engine. */
export type TestEngineKind = 'docker' | 'podman';

/** The engine of the tests: Docker's, unless ORRERY_TEST_ENGINE says podman. */
export const testEngineKind = (): TestEngineKind => {
  const named = process.env.ORRERY_TEST_ENGINE ?? 'docker';
  if (named === 'docker' || named === 'podman') return named;
  throw new Error(`ORRERY_TEST_ENGINE is ${named}: docker or podman`);
};

const PROGRAMS: Readonly<Record<TestEngineKind, { readonly names: readonly string[]; readonly debian: string }>> = {
  docker: { names: ['dockerd', 'containerd', 'runc', 'containerd-shim-runc-v2'], debian: 'docker.io' },
  podman: { names: ['podman', 'conmon', 'runc'], debian: 'podman runc' },
};

/** Why no engine can be started here, or null. */
export const whyNoEngine = (kind = testEngineKind()): string | null => {
  if (process.platform !== 'linux') return 'an engine of our own needs Linux';
  if (process.getuid?.() !== 0) return 'an engine of our own needs root';
  const { names, debian } = PROGRAMS[kind];
  const missing = names.filter((name) => spawnSync('sh', ['-c', 'command -v "$1"', 'sh', name]).status !== 0);
  return missing.length === 0 ? null : `${missing.join(', ')} not installed (Debian: apt-get install ${debian})`;
};

// Both scripts start their engine and wait until their own input ends: then, or when whoever held the other end is gone,
// everything of this folder is ended and taken away. Nothing is found by name alone: processes by pid file, by a root below
// the folder, or by the folder in their command line.
const COMMON = String.raw`
stop() { kill "$1" 2>/dev/null; n=0; while kill -0 "$1" 2>/dev/null && [ $n -lt 300 ]; do sleep 0.1; n=$((n+1)); done; kill -9 "$1" 2>/dev/null; }
end_inside() {
  grep -lsE "^[^ ]+ [^ ]+ [^ ]+ [^ ]+ / .*$dir/" /proc/[0-9]*/mountinfo | while IFS=/ read -r _ _ pid _; do kill -9 "$pid" 2>/dev/null; done
}
end_named() {
  grep -las "$dir/" /proc/[0-9]*/cmdline | while IFS=/ read -r _ _ pid _; do
    tr '\0' ' ' < "/proc/$pid/cmdline" 2>/dev/null | grep -q "^[^ ]*$1[^ ]* .*$dir/" && kill -9 "$pid" 2>/dev/null
  done
}
take_away() {
  awk -v dir="$dir/" 'index($2, dir) == 1 { print $2 }' /proc/mounts | sort -r | while read -r at; do umount -l "$at"; done
  rm -rf "$dir"
}
`;

const DOCKER = String.raw`
printf 'version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n' > "$dir/containerd.toml"
containerd --config "$dir/containerd.toml" --root "$dir/containerd" --state "$dir/containerd-state" --address "$dir/c.sock" > "$dir/containerd.log" 2>&1 < /dev/null &
containerd=$!
n=0; while [ ! -S "$dir/c.sock" ] && [ $n -lt 1200 ] && kill -0 $containerd 2>/dev/null; do sleep 0.05; n=$((n+1)); done
dockerd --data-root "$dir/data" --exec-root "$dir/exec" --pidfile "$dir/dockerd.pid" --host "unix://$dir/docker.sock" --containerd "$dir/c.sock" \
  --bridge=none --iptables=false --ip-masq=false --shutdown-timeout 5 > "$dir/dockerd.log" 2>&1 < /dev/null &
dockerd=$!
cat > /dev/null
stop $dockerd
end_inside
end_named containerd-shim
stop $containerd
take_away
`;

// Control groups by itself: no systemd is asked, which tests do not have.
const PODMAN = String.raw`
podman --root "$dir/data" --runroot "$dir/run" --tmpdir "$dir/tmp" --cgroup-manager cgroupfs --events-backend file --runtime runc \
  system service --time 0 "unix://$dir/docker.sock" > "$dir/dockerd.log" 2>&1 < /dev/null &
service=$!
cat > /dev/null
stop $service
end_inside
end_named conmon
take_away
`;

const SCRIPTS: Readonly<Record<TestEngineKind, string>> = { docker: DOCKER, podman: PODMAN };

const STARTED_WITHIN_MS = 120_000;

const isReadable = (body: object): body is Readable => 'pipe' in body;

type Asked = { readonly socket: string; readonly method: string; readonly path: string; readonly body?: object | Readable };

const ask = ({ socket, method, path, body }: Asked): Promise<EngineAnswer> => {
  const { promise, resolve, reject } = Promise.withResolvers<EngineAnswer>();
  const stream = body !== undefined && isReadable(body);
  const type = stream ? 'application/x-tar' : 'application/json';
  const asked = request(
    { socketPath: socket, method, path, headers: { 'content-type': type, connection: 'close' } },
    (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text })).once('error', reject);
    },
  );
  asked.once('error', reject);
  if (stream) body.pipe(asked);
  else asked.end(body === undefined ? undefined : JSON.stringify(body));
  return promise;
};

const logOf = (directory: string): string => {
  const file = join(directory, 'dockerd.log');
  return existsSync(file) ? readFileSync(file, 'utf8').slice(-2000) : 'it said nothing';
};

/** Starts an engine, of the kind that tests are asked for unless another is named. Rejects with the end of its log when it does not come up. */
export const startTestEngine = async (kind = testEngineKind()): Promise<TestEngine> => {
  const directory = mkdtempSync(join(tmpdir(), 'orrery-engine-'));
  const socket = join(directory, 'docker.sock');
  const watchdog = spawn('sh', ['-c', `dir=$1\n${COMMON}${SCRIPTS[kind]}`, 'sh', directory], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    // Podman's monitors write a file where they are.
    cwd: directory,
  });
  const gone = new Promise<void>((resolve) => {
    watchdog.once('exit', () => resolve());
  });
  watchdog.stdin.on('error', () => undefined);
  const close = async (): Promise<void> => {
    watchdog.stdin.end();
    await gone;
  };
  const answers = (): Promise<boolean> =>
    ask({ socket, method: 'GET', path: '/_ping' }).then(
      ({ status }) => status === 200,
      () => false,
    );
  for (const start = performance.now(); !(await answers());) {
    if (watchdog.exitCode !== null || performance.now() - start > STARTED_WITHIN_MS) {
      const log = logOf(directory);
      await close();
      throw new Error(`The test's container engine did not start: ${log}`);
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
  return { kind, socket, directory, ask: (method, path, body) => ask({ socket, method, path, body }), close };
};
