import type { AgentView } from '@orrery/protocol';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Answer } from '../parts/answer.tsx';
import { Facts, Line, Mark, Part } from '../parts/facts.tsx';
import { Harness } from '../parts/harness.tsx';
import { NodePage } from '../parts/node-page.tsx';
import { ProjectOf } from '../parts/project-of.tsx';
import { Empty } from '../parts/states.tsx';
import { visible } from '../review/inert.ts';
import { node } from '../state/node.ts';

/** Who can work here: agents by their files, and the programs that run them. */
export const AgentsPage = () => {
  const [project, setProject] = useState('');
  const agents = useQuery({
    queryKey: ['agents', project],
    queryFn: () => node.call('agentList', { query: project === '' ? {} : { project } }),
  });
  const harnesses = useQuery({ queryKey: ['harnesses'], queryFn: () => node.call('harnessList') });
  return (
    <NodePage name="Agents" command="orrery agent list">
      <Part name="Agents">
        <ProjectOf value={project} change={setProject} />
        <Answer query={agents}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty command={project === '' ? 'orrery agent new NAME --user' : 'orrery agent new NAME'}>
                There is no agent here. To write one:
              </Empty>
            ) : (
              <ul>
                {items.map((agent) => (
                  <Agent key={`${agent.source}:${agent.name}`} agent={agent} />
                ))}
              </ul>
            )
          }
        </Answer>
      </Part>
      <Part name="Agent programs">
        <Answer query={harnesses}>
          {({ items }) => (
            <ul>
              {items.map((harness) => (
                <Harness key={harness.id} harness={harness} />
              ))}
            </ul>
          )}
        </Answer>
      </Part>
    </NodePage>
  );
};

const Agent = ({ agent }: { readonly agent: AgentView }) => {
  const { name, source, description, problem, hides, ignored, prompt } = agent;
  return (
    <li className="border-b border-line py-1">
      <p className="flex flex-wrap items-baseline gap-x-3">
        <span className="font-semibold">{visible(name)}</span>
        <span className="text-quiet">{source}</span>
        {problem === null ? null : <Mark held="bad">cannot be used</Mark>}
        {description === null ? null : <span className="said">{visible(description)}</span>}
      </p>
      {problem?.map((line) => (
        <p key={line} className="said text-bad">
          {visible(line)}
        </p>
      ))}
      {hides.length === 0 ? null : <p className="said text-careful">! it hides {hides.map(visible).join(', ')}</p>}
      {ignored.length === 0 ? null : (
        <p className="said text-careful">! not taken from its file: {ignored.map(visible).join(', ')}</p>
      )}
      <details>
        <summary className="cursor-pointer text-quiet">What runs, and what it is told</summary>
        <Facts facts={factsOf(agent)} />
        {prompt === '' ? null : (
          <p className="said my-1 max-h-72 overflow-auto rounded bg-raised px-3 py-2" tabIndex={0}>
            {visible(prompt)}
          </p>
        )}
        <Line>{`orrery session start --agent ${source}:${name} "…"`}</Line>
      </details>
    </li>
  );
};

const factsOf = ({ path, harness, model, effort, mode, egress, budgetUsd, tools, skills, mcp, unattended }: AgentView) =>
  [
    ['file', visible(path)],
    ['program', harness ?? 'the default one'],
    ['model', model === null ? null : visible(model)],
    ['effort', effort],
    ['mode', mode],
    ['may reach', egress.map(visible).join(', ')],
    ['tools', tools?.allow == null ? null : tools.allow.length === 0 ? 'none' : tools.allow.map(visible).join(', ')],
    ['without', (tools?.deny ?? []).map(visible).join(', ')],
    ['skills', skills.map(visible).join(', ')],
    [
      'MCP servers',
      mcp.map(({ name, command }) => visible(command === null ? name : `${name} (${command.join(' ')})`)).join(', '),
    ],
    ['when nobody is there', unattended],
    ['budget', budgetUsd === null ? null : `${budgetUsd} US dollars`],
  ] as const;
