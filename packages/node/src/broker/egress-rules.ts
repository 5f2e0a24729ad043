// Who may be talked to. What no rule allows is denied, and a denial beats every permission.

import { OrreryError } from '@orrery/protocol/errors';
import { isPrivateAddress, parseHost, type Host } from '../kernel/host-name.ts';
import type { Grants } from './model.ts';

/** A rule in its one form. */
export type EgressRule = { readonly host: Host; readonly subdomains: boolean; readonly port: number | null };

/** Ports of a rule that names none. */
const WEB_PORTS: readonly number[] = [80, 443];

/** Reads `host`, `*.host`, `address`, `[address]`, each with `:port` or without. @throws OrreryError config_invalid */
export const parseEgressRule = (text: string): EgressRule => {
  const [, star, bracketed, bare, digits] =
    /^(\*\.)?(?:\[([^\]]+)\]|([^[\]:*]+|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*:[0-9a-fA-F:.]*))(?::(\d{1,5}))?$/.exec(text.trim()) ?? [];
  const host = parseHost(bracketed ?? bare ?? '');
  const port = digits === undefined ? null : Number(digits);
  const sensible =
    host !== null && (port === null || (port >= 1 && port <= 65_535)) && !(star !== undefined && host.kind === 'address');
  if (sensible) return { host, subdomains: star !== undefined, port };
  throw new OrreryError('config_invalid', `${JSON.stringify(text.slice(0, 200))} is no egress rule.`, {
    rule: 'A rule is a host, *.host or an address, with :port or without (then ports 80 and 443).',
    fix: 'egress: [registry.npmjs.org, "*.example.com", "10.0.0.5:8080"]',
  });
};

/** A rule as it is written, in its one form: equal rules have equal texts. */
export const egressRuleText = ({ host, subdomains, port }: EgressRule): string => {
  const name = host.text.includes(':') ? `[${host.text}]` : host.text;
  return `${subdomains ? '*.' : ''}${name}${port === null ? '' : `:${port}`}`;
};

const matches = (rule: EgressRule, host: Host, port: number): boolean => {
  if (rule.port === null ? !WEB_PORTS.includes(port) : rule.port !== port) return false;
  return matchesHost(rule, host);
};

/** `*.host` means what lies below it, not the host itself. */
const matchesHost = (rule: EgressRule, host: Host): boolean =>
  rule.subdomains
    ? host.kind === 'name' && host.text.endsWith(`.${rule.host.text}`)
    : rule.host.kind === host.kind && rule.host.text === host.text;

/** What is allowed and denied for one environment. */
export type EgressRules = {
  /** Why not, or null. */
  refusal(host: Host, port: number): string | null;
  /** Whether an address that a host resolved to may be dialled: public ones, and private ones that a rule names themselves. */
  mayDial(address: string, port: number): boolean;
};

/** Makes the rules. A denial without a port denies every port. */
export const createEgressRules = ({
  allow,
  deny,
}: {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}): EgressRules => {
  const allowed = allow.map(parseEgressRule);
  const denied = deny.map(parseEgressRule);
  const isDenied = (host: Host, port: number): boolean =>
    denied.some((rule) => matchesHost(rule, host) && (rule.port === null || rule.port === port));
  const isAllowed = (host: Host, port: number): boolean => allowed.some((rule) => matches(rule, host, port));
  return {
    refusal(host, port) {
      if (isDenied(host, port)) return 'the operator denies it';
      return isAllowed(host, port) ? null : 'no rule allows it';
    },
    mayDial(address, port) {
      const host = parseHost(address);
      if (host === null || host.kind !== 'address' || isDenied(host, port)) return false;
      if (!isPrivateAddress(host.text)) return true;
      const localhost = host.text === '127.0.0.1' || host.text === '::1';
      return isAllowed(host, port) || (localhost && isAllowed({ kind: 'name', text: 'localhost' }, port));
    },
  };
};

/** The rules of an environment as they are now: its own list, what was changed of it since, and the operator's denials. */
export const rulesOf = ({ egress, live = [] }: Pick<Grants, 'egress' | 'live'>, deny: readonly string[]): EgressRules => {
  const changed = (decision: 'allow' | 'deny') => live.filter((one) => one.decision === decision).map(({ rule }) => rule);
  return createEgressRules({ allow: [...egress, ...changed('allow')], deny: [...deny, ...changed('deny')] });
};
