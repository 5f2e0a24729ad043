import type { Client } from '@orrery/client';
import type { EnvironmentView } from '@orrery/protocol';
import { waitFor } from './wait.ts';

/** An environment as it is now. */
export const shownEnvironment = (client: Client, id: string): Promise<EnvironmentView> =>
  client.call('environmentShow', { params: { id } });

/** An environment once nothing is done to it any more, or once it is as `until` says. */
export const settledEnvironment = (
  client: Client,
  id: string,
  until: (environment: EnvironmentView) => boolean = ({ operation }) => operation === null,
): Promise<EnvironmentView> =>
  waitFor(
    `${id} is settled`,
    async () => {
      const environment = await shownEnvironment(client, id);
      return until(environment) ? environment : null;
    },
    90_000,
  );
