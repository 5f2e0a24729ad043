import type { BackendView, DoctorReport, HarnessView } from '@orrery/protocol';

export const backends: BackendView[] = [
  {
    name: 'sandbox',
    aliases: ['kernel'],
    summary: 'kernel sandbox on this machine',
    usable: true,
    problem: null,
    fix: null,
    isDefault: true,
    allowed: true,
    takesImages: false,
    guarantees: [
      { guarantee: 'files', held: true, by: 'landlock', missing: null },
      { guarantee: 'network', held: true, by: 'seccomp', missing: null },
    ],
    cannotStop: ['a flaw of the kernel'],
  },
  {
    name: 'local',
    aliases: [],
    summary: 'no walls at all',
    usable: true,
    problem: null,
    fix: null,
    isDefault: false,
    allowed: true,
    takesImages: false,
    guarantees: [{ guarantee: 'files', held: false, by: 'none', missing: 'nothing keeps it in' }],
    cannotStop: ['anything that you may do'],
  },
];

export const harnesses: HarnessView[] = [
  {
    id: 'pi',
    summary: 'a small agent',
    program: 'pi',
    pinnedVersion: '0.50.0',
    installedVersion: '0.50.0',
    isDefault: true,
    provenance: 'built-in',
    verified: true,
    capabilities: { resume: true, wires: ['anthropic'] },
    defaultModel: 'scripted/demo',
    paidBy: 'key',
    toolGate: null,
    missing: [],
  },
  {
    id: 'codex',
    summary: 'an agent',
    program: 'codex',
    pinnedVersion: '1.2.3',
    installedVersion: null,
    isDefault: false,
    provenance: 'built-in',
    verified: true,
    capabilities: { resume: true },
    defaultModel: null,
    paidBy: 'nothing',
    toolGate: null,
    missing: [],
  },
  {
    id: 'command',
    summary: 'a command, no model',
    program: null,
    pinnedVersion: null,
    installedVersion: null,
    isDefault: false,
    provenance: 'built-in',
    verified: true,
    capabilities: {},
    defaultModel: null,
    paidBy: 'nobody',
    toolGate: null,
    missing: [],
  },
];

export const doctorLines: DoctorReport['lines'] = [
  { area: 'store', state: 'ok', message: 'whole', fix: null },
  { area: 'disk', state: 'warning', message: '4 GiB left', fix: 'Free some space.' },
  { area: 'sandbox', state: 'problem', message: 'no user namespaces', fix: 'sysctl kernel.unprivileged_userns_clone=1' },
];

export const patch = 'diff --git a/roman.sh b/roman.sh\n--- a/roman.sh\n+++ b/roman.sh\n@@ -1 +1,2 @@\n-old\n+new\n+more\n';

export const stages = [
  {
    name: 'prepare',
    round: 1,
    state: 'passed',
    exitCode: null,
    note: null,
    output: null,
    startedAt: '2026-03-01T11:59:00.000Z',
    endedAt: '2026-03-01T11:59:00.400Z',
  },
  {
    name: 'drive',
    round: 1,
    state: 'passed',
    exitCode: 0,
    note: null,
    output: null,
    startedAt: '2026-03-01T11:59:01.000Z',
    endedAt: '2026-03-01T11:59:13.000Z',
  },
  {
    name: 'validate',
    round: 1,
    state: 'failed',
    exitCode: 1,
    note: null,
    output: 'not ok\n',
    startedAt: '2026-03-01T11:59:13.000Z',
    endedAt: '2026-03-01T11:59:14.000Z',
  },
];
