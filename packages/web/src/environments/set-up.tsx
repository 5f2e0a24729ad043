import type { EnvironmentView } from '@orrery/protocol';
import { useQuery } from '@tanstack/react-query';
import { Failed, State } from '../parts/states.tsx';
import { visible } from '../review/inert.ts';
import { bytesText } from '../state/bytes.ts';
import { node } from '../state/node.ts';

/** Most of a log that stands in the page. */
const SHOWN_BYTES = 32 * 1024;
/** How often a set-up that runs is looked at, ms. */
const LOOK_MS = 1_000;

/** The end of the log, and how much of it is not there. */
const lastOf = async (id: string): Promise<{ readonly text: string; readonly before: number }> => {
  const first = await node.call('environmentSetupLog', { params: { id }, query: { after: 0 } });
  const after = Math.max(0, first.totalBytes - SHOWN_BYTES);
  if (after === 0 && first.offset >= first.totalBytes) return { text: first.text, before: 0 };
  const { text } = await node.call('environmentSetupLog', { params: { id }, query: { after } });
  return { text, before: after };
};

/** How the set-up stands, and what it printed last. */
export const SetUp = ({ environment: { id, setup } }: { readonly environment: EnvironmentView }) => {
  const runs = setup.state === 'running' || setup.state === 'pending';
  const { data, error } = useQuery({
    queryKey: ['environment', id, 'setup-log'],
    queryFn: () => lastOf(id),
    refetchInterval: runs ? LOOK_MS : false,
  });
  return (
    <>
      <p>
        <State state={setup.state} /> {setup.reason === null ? null : <span className="said text-quiet">{setup.reason}</span>}
      </p>
      {error === null ? null : <Failed error={error} />}
      {data === undefined || data.text === '' ? null : (
        <>
          {data.before === 0 ? null : <p className="text-quiet">{bytesText(data.before)} before this are left out.</p>}
          <pre
            className="said my-1 max-h-80 overflow-auto rounded bg-raised px-3 py-2 font-mono"
            tabIndex={0}
            aria-label="Log of the set-up"
          >
            {visible(data.text.trimEnd())}
          </pre>
        </>
      )}
    </>
  );
};
