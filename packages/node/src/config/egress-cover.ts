import { isIP } from 'node:net';

/** What a rule looks like, for messages. */
export const egressRuleForm = 'must be a host, *.host or an address, with :port or without';

type Rule = { readonly host: string; readonly subdomains: boolean; /** null: 80 and 443. */ readonly port: number | null };

const parseRule = (text: string): Rule | null => {
  const match = /^(\*\.)?(\[[0-9a-f:.]+\]|[a-z0-9._-]+|[0-9a-f]*:[0-9a-f:.]*:[0-9a-f:.]*)(?::(\d{1,5}))?$/i.exec(text.trim());
  if (match === null) return null;
  const host = (match[2] ?? '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
  const port = match[3] === undefined ? null : Number(match[3]);
  const isAddress = isIP(host) !== 0;
  const isName = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,62}(?:\.[a-z0-9_][a-z0-9_-]{0,62})*)$/.test(host);
  if ((!isAddress && !isName) || (isAddress && match[1] !== undefined)) return null;
  if (port !== null && (port < 1 || port > 65_535)) return null;
  return { host, subdomains: match[1] !== undefined, port };
};

/** Whether a text is an egress rule. */
export const isEgressRule = (text: string): boolean => parseRule(text) !== null;

/** Whether everything that `asked` would open is open by `given` already. Texts that are no rules cover and are covered by nothing. */
export const covers = (given: string, asked: string): boolean => {
  const outer = parseRule(given);
  const inner = parseRule(asked);
  if (outer === null || inner === null) return false;
  const sameHost = outer.host === inner.host && outer.subdomains === inner.subdomains;
  const below = outer.subdomains && isIP(inner.host) === 0 && inner.host.endsWith(`.${outer.host}`);
  return (sameHost || below) && coversPort(outer.port, inner.port);
};

const coversPort = (outer: number | null, inner: number | null): boolean =>
  outer === null ? inner === null || inner === 80 || inner === 443 : outer === inner;
