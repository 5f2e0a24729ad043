// What the operator sees and changes of an environment's egress while it is open.

import { OrreryError, toOrreryError } from '@orrery/protocol/errors';
import type { EgressView } from '@orrery/protocol';
import { appendAudit } from '../audit/index.ts';
import { isEgressRule } from '../config/egress-cover.ts';
import { toInstant, type Clock } from '../kernel/clock.ts';
import type { Store } from '../store/store.ts';
import { egressEvent } from './egress-events.ts';
import type { EgressProxy } from './egress-proxy.ts';
import { egressRuleText, parseEgressRule, rulesOf } from './egress-rules.ts';
import { LIVE_RULES } from './limits.ts';
import type { LiveRule, TokenIdentity } from './model.ts';
import type { EgressSubject, RunTokens } from './run-tokens.ts';

/** One change, and who makes it. */
export type EgressChange = LiveRule & { readonly actor: string };

export type EgressControl = {
  /** @throws OrreryError conflict when nothing of it is open */
  show(subject: EgressSubject): Promise<EgressView>;
  /** Holds at once for new connections, and ends those that are denied now. @throws OrreryError conflict, config_invalid, limit_reached */
  change(subject: EgressSubject, change: EgressChange): Promise<EgressView & { readonly ended: number }>;
  /** The operator's own denials changed: connections that they deny now are ended. */
  recheck(): Promise<void>;
};

export type EgressControlParts = {
  readonly store: Store;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly tokens: Pick<RunTokens, 'egressOf' | 'setLive' | 'changed'>;
  readonly proxy: Pick<EgressProxy, 'rulesChanged' | 'connected' | 'openConnections' | 'traffic'>;
  readonly deny: () => readonly string[];
};

/** Makes it. */
export const createEgressControl = (parts: EgressControlParts): EgressControl => {
  const { store, clock, tokens, proxy, deny } = parts;
  const view = (identity: TokenIdentity): EgressView => viewOf(identity, { proxy, deny: deny() });
  return {
    show: async (subject) => view(await openOf(tokens, subject)),
    async change(subject, { rule, decision, actor }) {
      const { environmentId, taskId } = await openOf(tokens, subject);
      const text = readRule(rule, { decision, environmentId });
      await store.transaction(async (tx) => {
        // Read again inside: two changes at once must not undo each other.
        const { grants } = await openOf(tokens, { environmentId }, tx.db);
        await tokens.setLive(tx, environmentId, withRule(grants.live ?? [], { rule: text, decision }));
        await appendAudit(
          tx.db,
          { actor, action: `egress.${decision}`, subject: environmentId, outcome: 'done', detail: { rule: text } },
          clock.nowMs(),
        );
        await tx.append([await egressEvent(tx.db, taskId, { kind: 'egress.changed', environmentId, rule: text, decision })]);
      });
      tokens.changed(environmentId);
      const now = await openOf(tokens, { environmentId });
      return { ended: proxy.rulesChanged(environmentId, now.grants), ...view(now) };
    },
    async recheck() {
      for (const environmentId of proxy.connected()) {
        const identity = await tokens.egressOf({ environmentId });
        if (identity !== null) proxy.rulesChanged(environmentId, identity.grants);
      }
    },
  };
};

const openOf = async (
  tokens: EgressControlParts['tokens'],
  subject: EgressSubject,
  db?: Parameters<RunTokens['egressOf']>[1],
): Promise<TokenIdentity> => {
  const found = await tokens.egressOf(subject, db);
  if (found !== null) return found;
  const name = 'taskId' in subject ? `The task ${subject.taskId}` : `The environment ${subject.environmentId}`;
  throw new OrreryError('conflict', `${name} has no open environment.`, {
    rule: 'Egress is changed while an environment is open, and for as long as it is.',
    fix: "Name the host in the project's file or with --egress before it starts: orrery run --egress HOST",
  });
};

/** A rule as it is written. What is none is refused with the command as it was meant: of an address of a page, its host. */
const readRule = (rule: string, given: { readonly decision: LiveRule['decision']; readonly environmentId: string }): string => {
  try {
    return egressRuleText(parseEgressRule(rule));
  } catch (thrown) {
    const { code, message, rule: form } = toOrreryError(thrown);
    const host = URL.canParse(rule) ? new URL(rule).host : '';
    const meant = isEgressRule(host) ? host : 'HOST';
    const fix =
      given.decision === 'allow'
        ? `orrery egress allow ${given.environmentId} ${meant}`
        : `orrery egress deny ${given.environmentId} ${meant}`;
    throw new OrreryError(code, message, { rule: form ?? undefined, fix });
  }
};

/** The newest word on a rule holds; the oldest rules come first. */
const withRule = (live: readonly LiveRule[], given: LiveRule): readonly LiveRule[] => {
  const others = live.filter(({ rule }) => rule !== given.rule);
  if (others.length < LIVE_RULES) return [...others, given];
  throw new OrreryError('limit_reached', `The environment has ${LIVE_RULES} changes of its egress already.`, {
    rule: 'A list that long belongs into the file of the project.',
    fix: 'Allow a whole domain with one rule: orrery egress allow ENV "*.example.com"',
  });
};

const viewOf = (
  { environmentId, taskId, grants }: TokenIdentity,
  given: { readonly proxy: EgressControlParts['proxy']; readonly deny: readonly string[] },
): EgressView => {
  const live = grants.live ?? [];
  const rules = rulesOf(grants, given.deny);
  const canonical = (rule: string): string => egressRuleText(parseEgressRule(rule));
  const listed = [
    ...given.deny.map((rule) => ({ rule: canonical(rule), decision: 'deny' as const, from: 'node' as const })),
    ...live.map((one) => ({ ...one, from: 'operator' as const })),
    ...grants.egress.map((rule) => ({ rule: canonical(rule), decision: 'allow' as const, from: 'task' as const })),
  ];
  return {
    environmentId,
    taskId,
    rules: listed.map((one) => ({ ...one, beaten: one.decision === 'allow' && isBeaten(rules, one.rule) })),
    connections: given.proxy.openConnections(environmentId),
    hosts: given.proxy.traffic(environmentId).map(({ lastAtMs, ...host }) => ({ ...host, lastAt: toInstant(lastAtMs) })),
  };
};

/** Whether a denial takes away all that a permission gives. */
const isBeaten = (rules: ReturnType<typeof rulesOf>, text: string): boolean => {
  const { host, subdomains, port } = parseEgressRule(text);
  const asked = subdomains ? { ...host, text: `any.${host.text}` } : host;
  return rules.refusal(asked, port ?? 443) !== null;
};
