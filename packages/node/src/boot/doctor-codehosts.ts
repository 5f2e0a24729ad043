import type { DoctorReport } from '@orrery/protocol';
import { toOrreryError } from '@orrery/protocol/errors';
import type { Config } from '../config/config.ts';
import { secretOf, type Secrets } from '../config/secrets.ts';

type Line = DoctorReport['lines'][number];

/** Code hosts of the configuration, and whether each has a token. Nobody is asked whether it is good. */
export const codehostLines = ({
  config,
  secrets,
}: {
  readonly config: Pick<Config, 'current'>;
  readonly secrets: Pick<Secrets, 'read'>;
}): Promise<Line[]> =>
  Promise.all(
    Object.entries(config.current().codehosts).map(async ([name, { url, secret }]): Promise<Line> => {
      const area = `code host ${name}`;
      const held = secretOf(secret, name);
      try {
        if ((await secrets.read(held)) !== null)
          return { area, state: 'ok', message: `${new URL(url).host}; its token is set.`, fix: null };
      } catch (thrown) {
        const { message, fix } = toOrreryError(thrown);
        return { area, state: 'problem', message, fix };
      }
      const message = `The secret "${held}" is not set: no pull request is opened there.`;
      return { area, state: 'warning', message, fix: `orrery secret set ${held}` };
    }),
  );
