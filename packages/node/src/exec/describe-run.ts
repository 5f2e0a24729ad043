import type { Confinement, KeeperLimits, KeeperSpec } from '../keeper/types.ts';
import { createSecretMask } from './secret-mask.ts';

/** What is said beside the spec. */
export type DescribedRun = {
  readonly backend: string;
  /** A sentence that must be read on every launch, or null. */
  readonly notice: string | null;
  readonly label: string;
  readonly secretNames: readonly string[];
};

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

const quote = (word: string): string => (PLAIN.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

const confinementLines = (confinement: Confinement | null): string[] => {
  if (confinement === null)
    return ['files      everything this user may', 'network    everything this machine may', 'processes  visible and reachable'];
  return [
    ...confinement.files.map(({ path, access }) => `file       ${access.padEnd(3)} ${quote(path)}`),
    ...confinement.readOnly.map((path) => `read-only  ${quote(path)}`),
    `network    ${confinement.network === 'none' ? "its own loopback; nothing else but the broker's port" : "the machine's"}`,
    `processes  ${confinement.processes ? 'its own' : 'visible and reachable'}`,
    `sockets    ${confinement.unixSockets ? 'Unix sockets allowed' : 'no Unix sockets'}`,
    ...(confinement.wrapper === undefined ? [] : [`wrapper    ${confinement.wrapper.map(quote).join(' ')}`]),
  ];
};

const limitLine = (limits: KeeperLimits): string =>
  `limits     ${Object.entries(limits)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')}`;

/**
 * The spec for people, line by line, in a form that can be compared: exactly what the keeper is told. Secrets are masked
 * wherever they appear.
 */
export const describeKeeperSpec = (spec: KeeperSpec, { backend, notice, label, secretNames }: DescribedRun): string => {
  const mask = createSecretMask(spec.env, secretNames);
  const lines = [
    `backend    ${backend}${notice === null ? '' : `: ${notice}`}`,
    `label      ${label}`,
    `command    ${[spec.command, ...spec.args].map(quote).join(' ')}`,
    `cwd        ${quote(spec.cwd)}`,
    `stdio      ${spec.stdio}${spec.terminal === undefined ? '' : ` ${spec.terminal.columns}x${spec.terminal.rows}`}`,
    ...confinementLines(spec.confinement),
    limitLine(spec.limits),
    spec.front === null ? 'broker     none' : `broker     127.0.0.1:${spec.front.port} → ${quote(spec.front.target)}`,
    `required   ${spec.required.length === 0 ? 'nothing' : spec.required.join(' ')}`,
  ].map(mask.text);
  const env = Object.keys(spec.env)
    .toSorted()
    .map((name) => `env        ${name}=${quote(mask.value(name))}`);
  return [...lines, ...env].join('\n');
};
