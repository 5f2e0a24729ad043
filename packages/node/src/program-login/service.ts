// Glossary. A program login is the account of an agent program's maker that pays the calls of that program; the node is the
// only one that has it and the only one that refreshes it. Decision 111.

import type { HarnessLoginView, PaidBy } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import type { Secrets } from '../config/secrets.ts';
import type { Harness, InstalledProgram } from '../harness/harness.ts';
import type { HarnessLogin } from '../harness/login.ts';
import type { Clock } from '../kernel/clock.ts';
import { errorFields, type Log } from '../kernel/log.ts';
import type { Spawner } from '../kernel/spawner.ts';
import { createMutex } from '../kernel/mutex.ts';
import { startDevice, sweepDevices } from './device.ts';
import { asKept, createKeep } from './kept.ts';
import { createPayments, type LoginSettings, type ProgramPayment } from './payments.ts';
import { loginView, noLogin, type Waiting } from './view.ts';

export type ProgramLoginParts = {
  readonly secrets: Pick<Secrets, 'read' | 'set' | 'remove'>;
  readonly harness: (id: string) => Harness;
  readonly program: (id: string) => Promise<InstalledProgram | null>;
  readonly settings: (harness: string) => LoginSettings;
  /** Whether a provider has a key. */
  readonly hasKey: (provider: string) => Promise<boolean>;
  /** Folder for programs that log in. */
  readonly directory: string;
  readonly spawner: Spawner;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly log: Log;
  /** Writes down that a login was begun, kept or forgotten, and by whom (`node`: by itself). */
  readonly record: (what: { readonly actor: string; readonly action: LoginAction; readonly harness: string }) => Promise<void>;
  readonly send?: typeof fetch;
};

type LoginAction = 'harness.login' | 'harness.logout';

/** The logins of a node's agent programs. */
export type ProgramLogins = {
  /** @throws OrreryError unknown_name */
  view(id: string): Promise<HarnessLoginView>;
  /** Takes a token that a program printed. @throws OrreryError unsupported, invalid_input */
  accept(id: string, token: string, actor: string): Promise<HarnessLoginView>;
  /** Begins a login by a code, or shows the one that waits. @throws OrreryError unsupported, harness_not_installed, login_failed */
  begin(id: string, actor: string): Promise<HarnessLoginView>;
  /** Forgets the login, and ends one that waits. Repeatable. */
  forget(id: string, actor: string): Promise<HarnessLoginView>;
  paidBy(harness: Harness): Promise<PaidBy>;
  /** What pays a call of a harness to a provider in place of its key; null: nothing does. @throws OrreryError login_failed, login_unreachable */
  payment(asked: { readonly harness: string; readonly provider: string }): Promise<ProgramPayment | null>;
  /** Ends programs that log in. */
  close(): Promise<void>;
};

type WithLogin = Harness & { readonly login: HarnessLogin };

/** Makes it; what a node that died left in its folder goes. */
export const createProgramLogins = (parts: ProgramLoginParts): ProgramLogins => {
  const { clock, log } = parts;
  const keep = createKeep(parts.secrets);
  const changes = createMutex();
  const payments = createPayments({ ...parts, keep, changes });
  const waiting = new Map<string, Waiting & { readonly end: () => void; readonly over: Promise<void> }>();
  const problems = new Map<string, string>();
  const swept = sweepDevices(parts.directory).catch((thrown: unknown) => log.warn('login.sweep.failed', errorFields(thrown)));

  const withLogin = (id: string): WithLogin => {
    const harness = parts.harness(id);
    if (harness.login !== undefined) return harness as WithLogin;
    throw new OrreryError('unsupported', `${id} cannot be logged in.`, { rule: noLogin(harness), fix: fixOf(harness) });
  };

  const paidBy = async (harness: Harness): Promise<PaidBy> => {
    if (harness.own !== undefined) return 'own';
    if (harness.provider === null) return harness.defaultModel === null && harness.session === null ? 'nobody' : 'model';
    const { login } = harness;
    if (login !== undefined && parts.settings(harness.id).use) {
      const kept = await keep.read({ id: harness.id, login });
      if (kept !== null) return 'login';
    }
    return (await parts.hasKey(harness.provider)) ? 'key' : 'nothing';
  };

  const view = async (id: string): Promise<HarnessLoginView> => {
    const harness = parts.harness(id);
    const { login } = harness;
    return loginView(harness, {
      paidBy: await paidBy(harness),
      kept: login === undefined ? null : await keep.read({ id, login }),
      waiting: waiting.get(id) ?? null,
      problem: problems.get(id) ?? null,
      program: login === undefined ? null : await parts.program(id),
    });
  };

  const begin = async (id: string, actor: string): Promise<void> => {
    const harness = withLogin(id);
    const { device } = harness.login;
    if (device === undefined) throw needsToken(harness);
    if (waiting.has(id)) return;
    const program = await parts.program(id);
    if (program === null)
      throw new OrreryError('harness_not_installed', `The program of ${id} is not installed.`, {
        rule: 'A program is logged in by itself.',
        fix: `orrery harness install ${id}`,
      });
    await swept;
    problems.delete(id);
    const ending = new AbortController();
    const run = startDevice({
      directory: parts.directory,
      harness: id,
      program,
      login: device,
      issuer: parts.settings(id).issuer ?? null,
      signal: ending.signal,
      spawner: parts.spawner,
    });
    const over = run.done
      .then((login) => changes.run(id, () => keep.write(id, asKept(login, clock.nowMs()))))
      .then(() => parts.record({ actor, action: 'harness.login', harness: id }))
      .catch((thrown: unknown) => {
        if (!ending.signal.aborted) problems.set(id, thrown instanceof Error ? thrown.message : String(thrown));
      })
      .finally(() => waiting.delete(id));
    const prompt = await run.prompted;
    waiting.set(id, { ...prompt, untilMs: clock.nowMs() + device.waitsMs, end: () => ending.abort(), over });
  };

  return {
    view,
    paidBy,
    payment: payments.find,
    accept: async (id, token, actor) => {
      const { login } = withLogin(id);
      if (login.accept === undefined)
        throw new OrreryError('unsupported', `${id} takes no token.`, {
          rule: 'It is logged in by a code.',
          fix: `orrery harness login ${id}`,
        });
      const taken = login.accept(token.trim());
      await changes.run(id, () => keep.write(id, asKept(taken, clock.nowMs())));
      await parts.record({ actor, action: 'harness.login', harness: id });
      problems.delete(id);
      return view(id);
    },
    begin: async (id, actor) => {
      await changes.run(`begin ${id}`, () => begin(id, actor));
      return view(id);
    },
    forget: async (id, actor) => {
      withLogin(id);
      const going = waiting.get(id);
      going?.end();
      await going?.over;
      if (await changes.run(id, () => keep.remove(id))) await parts.record({ actor, action: 'harness.logout', harness: id });
      problems.delete(id);
      return view(id);
    },
    close: async () => {
      const going = [...waiting.values()];
      for (const { end } of going) end();
      await Promise.all(going.map(({ over }) => over));
    },
  };
};

const fixOf = ({ provider }: Harness): string =>
  provider === null ? 'orrery secret set NAME, named like the provider of its model' : `orrery secret set ${provider}`;

const needsToken = ({ id, login }: WithLogin): OrreryError =>
  new OrreryError('invalid_input', `The token of ${login.account} is missing.`, {
    rule: `Its program prints one: ${id} ${(login.prints ?? []).join(' ')}`,
    fix: `orrery harness login ${id}`,
  });
