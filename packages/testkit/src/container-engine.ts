// A container engine for tests: Docker's, started in a folder of its own, with nothing of the machine's engine in it.
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
  readonly socket: string;
  readonly directory: string;
  /** One request of the engine's own interface, for what tests arrange beside the code under test. */
  ask(method: string, path: string, body?: object | Readable): Promise<EngineAnswer>;
  close(): Promise<void>;
};

const PROGRAMS = ['dockerd', 'containerd', 'runc', 'containerd-shim-runc-v2'];

/** Why no engine can be started here, or null. */
export const whyNoEngine = (): string | null => {
  if (process.platform !== 'linux') return 'an engine of our own needs Linux';
  if (process.getuid?.() !== 0) return 'an engine of our own needs root';
  const missing = PROGRAMS.filter((name) => spawnSync('sh', ['-c', 'command -v "$1"', 'sh', name]).status !== 0);
  return missing.length === 0 ? null : `${missing.join(', ')} not installed (Debian: apt-get install docker.io)`;
};

// Starts both daemons and waits until its own input ends: then, or when whoever held the other end is gone, everything of
// this folder is ended and taken away. Nothing is found by name alone: processes by pid file or by a root below the folder.
const WATCHDOG = String.raw`
dir=$1
printf 'version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n' > "$dir/containerd.toml"
containerd --config "$dir/containerd.toml" --root "$dir/containerd" --state "$dir/containerd-state" --address "$dir/c.sock" > "$dir/containerd.log" 2>&1 < /dev/null &
containerd=$!
n=0; while [ ! -S "$dir/c.sock" ] && [ $n -lt 1200 ] && kill -0 $containerd 2>/dev/null; do sleep 0.05; n=$((n+1)); done
dockerd --data-root "$dir/data" --exec-root "$dir/exec" --pidfile "$dir/dockerd.pid" --host "unix://$dir/docker.sock" --containerd "$dir/c.sock" \
  --bridge=none --iptables=false --ip-masq=false --shutdown-timeout 5 > "$dir/dockerd.log" 2>&1 < /dev/null &
dockerd=$!
cat > /dev/null
stop() { kill "$1" 2>/dev/null; n=0; while kill -0 "$1" 2>/dev/null && [ $n -lt 300 ]; do sleep 0.1; n=$((n+1)); done; kill -9 "$1" 2>/dev/null; }
stop $dockerd
for at in /proc/[0-9]*; do
  awk -v dir="$dir/" '$5 == "/" && index($0, dir) { found = 1 } END { exit !found }' "$at/mountinfo" 2>/dev/null && kill -9 "$(basename "$at")" 2>/dev/null
done
for at in /proc/[0-9]*; do
  tr '\0' ' ' < "$at/cmdline" 2>/dev/null | grep -q "^[^ ]*containerd-shim[^ ]* .*$dir/" && kill -9 "$(basename "$at")" 2>/dev/null
done
stop $containerd
awk -v dir="$dir/" 'index($2, dir) == 1 { print $2 }' /proc/mounts | sort -r | while read -r at; do umount -l "$at"; done
rm -rf "$dir"
`;

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

/** Starts an engine. Rejects with the end of its log when it does not come up. */
export const startTestEngine = async (): Promise<TestEngine> => {
  const directory = mkdtempSync(join(tmpdir(), 'orrery-engine-'));
  const socket = join(directory, 'docker.sock');
  const watchdog = spawn('sh', ['-c', WATCHDOG, 'sh', directory], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
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
  return { socket, directory, ask: (method, path, body) => ask({ socket, method, path, body }), close };
};
