import { useQuery } from '@tanstack/react-query';
import { Ago } from '../parts/ago.tsx';
import { Answer } from '../parts/answer.tsx';
import { Facts, Mark, Part } from '../parts/facts.tsx';
import { NodePage } from '../parts/node-page.tsx';
import { node } from '../state/node.ts';

/** Who the node is, and whether it is well. */
export const NodeFactsPage = () => {
  const facts = useQuery({ queryKey: ['node'], queryFn: () => node.call('nodeShow') });
  const doctor = useQuery({ queryKey: ['doctor'], queryFn: () => node.call('nodeDoctor') });
  return (
    <NodePage name="Node" command="orrery doctor">
      <Part name="This node">
        <Answer query={facts}>
          {(one) => (
            <Facts
              facts={[
                ['name', one.name],
                ['version', one.version],
                ['state', one.state],
                ['address', one.url],
                ['data', one.dataDirectory],
                ['started', <Ago at={one.startedAt} />],
                ['process', `${one.pid}, ${Math.round(one.memoryBytes / 1_048_576)} MiB`],
                ['default', `${one.defaultHarness} in ${one.defaultBackend}`],
                ['tasks', `${one.tasks.running} running, ${one.tasks.waiting} waiting, ${one.tasks.queued} queued`],
                ['queue', one.queuePaused ? <Mark held="careful">paused: orrery queue resume</Mark> : 'open'],
                ['installation', one.installationId],
              ]}
            />
          )}
        </Answer>
      </Part>
      <Part name="Is it well?">
        <Answer query={doctor}>
          {({ lines }) => (
            <ul>
              {lines.map((line) => (
                <DoctorLine key={`${line.area} ${line.message}`} line={line} />
              ))}
            </ul>
          )}
        </Answer>
      </Part>
    </NodePage>
  );
};

const helds = { ok: 'good', warning: 'careful', problem: 'bad' } as const;

type Line = { readonly area: string; readonly state: keyof typeof helds; readonly message: string; readonly fix: string | null };

const DoctorLine = ({ line: { area, state, message, fix } }: { readonly line: Line }) => (
  <li className="flex flex-wrap gap-x-3 border-b border-line py-1">
    <span className="w-20">
      <Mark held={helds[state]}>{state}</Mark>
    </span>
    <span className="w-32 text-quiet">{area}</span>
    <span className="said min-w-60 flex-1">{message}</span>
    {fix === null ? null : <code className="said w-full font-mono text-quiet md:pl-26">{fix}</code>}
  </li>
);
