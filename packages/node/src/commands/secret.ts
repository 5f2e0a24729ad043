import { text } from 'node:stream/consumers';
import { OrreryError } from '@orrery/protocol/errors';
import { makeDirectories } from '../config/paths.ts';
import { createSecrets } from '../config/secrets.ts';
import { systemClock, toInstant } from '../kernel/clock.ts';
import { systemRandom } from '../kernel/random.ts';
import type { Verb } from './verb.ts';

/** `secret set NAME` (value on standard input) · `secret list` · `secret remove NAME`. Works with or without a running node. */
export const secret: Verb = async ({ paths, positionals }) => {
  const [action, name] = positionals;
  await makeDirectories(paths, process.getuid?.() ?? 0);
  const secrets = createSecrets({
    file: paths.secrets,
    keyFile: paths.secretKey,
    env: process.env,
    random: systemRandom,
    clock: systemClock,
  });
  if (action === 'list') {
    const items = (await secrets.list()).map(({ setAtMs, ...view }) => ({
      ...view,
      setAt: setAtMs === null ? null : toInstant(setAtMs),
    }));
    return { result: { items } };
  }
  if (name === undefined)
    throw new OrreryError('invalid_input', 'The name of the secret is missing.', {
      fix: action === 'remove' ? 'orrery secret remove NAME' : 'orrery secret set NAME',
    });
  if (action === 'set') {
    await secrets.set(name, (await text(process.stdin)).replace(/\r?\n$/, ''));
    return { result: { name } };
  }
  if (action === 'remove') {
    if (!(await secrets.remove(name)))
      throw new OrreryError('not_found', `There is no secret "${name.slice(0, 64)}".`, { fix: 'orrery secret list' });
    return { result: { name } };
  }
  throw new OrreryError('unknown_command', `There is no "secret ${action ?? ''}".`, { rule: 'It is set, list or remove.' });
};
