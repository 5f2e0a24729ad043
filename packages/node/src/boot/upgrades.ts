import { upgradePaths, upgradeProtocols } from '@orrery/protocol';
import type { UpgradeRoute } from '../api/index.ts';
import type { Forwarding } from '../environment/index.ts';
import { joinStreams } from '../kernel/join-streams.ts';

/** Bytes to a port of an environment, as they are. */
export const portRoute = (forwarding: Forwarding): UpgradeRoute => ({
  path: upgradePaths.port,
  protocol: upgradeProtocols.port,
  scope: 'operator',
  open: async ({ params, socket, head }) => {
    const inside = await forwarding.open(params['id'] ?? '', Number(params['port']));
    if (!socket.writable) return void inside.destroy();
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${upgradeProtocols.port}\r\n\r\n`);
    if (head.length > 0) inside.write(head);
    await joinStreams(socket, inside);
  },
});
