import type { PolicyListed, PolicyRuleView } from '@orrery/protocol';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Answer } from '../parts/answer.tsx';
import { Mark, Part } from '../parts/facts.tsx';
import { NodePage } from '../parts/node-page.tsx';
import { ProjectOf } from '../parts/project-of.tsx';
import { Empty } from '../parts/states.tsx';
import { TryRules } from '../parts/try-rules.tsx';
import { visible } from '../review/inert.ts';
import { node } from '../state/node.ts';

/** Rules that decide what agents ask, with their files; what is wrong with these; and what they would say. */
export const PoliciesPage = () => {
  const [project, setProject] = useState('');
  const query = useQuery({
    queryKey: ['policies', project],
    queryFn: () => node.call('policyList', { query: project === '' ? {} : { project } }),
    // Files are changed in editors: what was read before is old.
    staleTime: 0,
  });
  return (
    <NodePage name="Policies" command="orrery policy list">
      <ProjectOf value={project} change={setProject} />
      <Answer query={query}>{(listed) => <Listed listed={listed} />}</Answer>
      <Part name="What would they say?">
        <TryRules project={project} />
      </Part>
    </NodePage>
  );
};

const Listed = ({ listed }: { readonly listed: PolicyListed }) => (
  <>
    {listed.broken ? (
      <p role="alert" className="said my-2 text-bad">
        ✗ A file cannot be used. Until it is mended everything is asked: no rule and no mode allows anything.
      </p>
    ) : null}
    {listed.idle.map((line) => (
      <p key={line} className="said my-1 text-careful">
        ! {visible(line)}
      </p>
    ))}
    <Part name="Rules">
      {listed.items.length === 0 ? (
        <Empty>There is no rule here. One can be taken from what an agent asks, or written into {visible(listed.folder)}.</Empty>
      ) : (
        <ul aria-label="Rules">
          {listed.items.map((rule) => (
            <Rule key={`${rule.file} ${rule.name}`} rule={rule} />
          ))}
        </ul>
      )}
    </Part>
    <Part name="Files">
      <p className="said text-quiet">
        Yours are in {visible(listed.folder)}; those of a project in .orrery/policies of its newest commit.
      </p>
      <ul aria-label="Policy files">
        {listed.files.map(({ path, origin, rules, problem }) => (
          <li key={`${origin} ${path}`} className="border-b border-line py-1">
            <span className="said font-mono">{visible(path)}</span> <span className="text-quiet">{origin}</span>{' '}
            {problem === null ? (
              <Mark held="good">{rules === 1 ? '1 rule' : `${rules} rules`}</Mark>
            ) : (
              <Mark held="bad">cannot be used</Mark>
            )}
            {problem?.map((line) => (
              <p key={line} className="said text-bad">
                {visible(line)}
              </p>
            ))}
          </li>
        ))}
      </ul>
    </Part>
  </>
);

const marks = { allow: 'good', deny: 'bad', ask: 'careful' } as const;

const Rule = ({ rule }: { readonly rule: PolicyRuleView }) => (
  <li className="flex flex-wrap items-baseline gap-x-3 border-b border-line py-1">
    <span className="w-16">
      <Mark held={marks[rule.verdict]}>{rule.verdict}</Mark>
    </span>
    <span className="font-semibold">{visible(rule.name)}</span>
    <span className="said font-mono">{visible(meant(rule))}</span>
    {rule.text === null ? null : <span className="said text-quiet">{visible(rule.text)}</span>}
    <span className="said ml-auto text-quiet">{visible(rule.file)}</span>
  </li>
);

/** What a rule is for, in one line. */
const meant = ({ match: { command, paths, kind, tool, project, harness } }: PolicyRuleView): string => {
  const parts = [
    command?.exact,
    command?.words === undefined ? undefined : `${command.words.join(' ')} …`,
    ...(paths?.exact ?? []),
    ...(paths?.below ?? []).map((folder) => `${folder}/…`),
    kind === undefined ? undefined : `kind ${kind}`,
    tool === undefined ? undefined : `tool ${tool}`,
    project === undefined ? undefined : `project ${project}`,
    harness === undefined ? undefined : `harness ${harness}`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? 'everything' : parts.join(', ');
};
