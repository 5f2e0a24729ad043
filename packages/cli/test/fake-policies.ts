// Policies of a fake node, and what an agent asks of it.
import type { InteractionView, OperationName, PolicyListed, PolicyRuleView } from '@orrery/protocol';
import { ago, type FakeState } from './fake-state.ts';

const folder = '/config/policies';

const rule = (name: string, more: Partial<PolicyRuleView>): PolicyRuleView => ({
  ...{ name, origin: 'operator', file: `${folder}/own.yaml`, action: 'approval', match: {}, verdict: 'allow', text: null },
  ...more,
});

const items: PolicyRuleView[] = [
  rule('npm-test-3f2a', { match: { project: 'site', harness: 'claude', command: { exact: 'npm test' } } }),
  rule('docs', { match: { project: 'stie', paths: { below: ['docs'] } } }),
  rule('no-push', {
    ...{ verdict: 'deny', text: 'Pushes go through review.', match: { command: { words: ['git', 'push'] } } },
    ...{ origin: 'project', file: '.orrery/policies/review.yaml' },
  }),
];

const problem = ['/config/policies/own.yaml:3:5: rules[0].comand: no such key; did you mean "command"?', 'A rule.', 'Mend it.'];

const listed = (kind: FakePolicies): PolicyListed => ({
  items: kind === 'some' ? items : [],
  files:
    kind === 'none'
      ? []
      : [{ origin: 'operator', path: `${folder}/own.yaml`, rules: items.length, problem: kind === 'broken' ? problem : null }],
  folder,
  broken: kind === 'broken',
  idle: kind === 'some' ? ['/config/policies/own.yaml: the rule "docs" is for the project "stie", and there is none.'] : [],
});

const interaction: InteractionView = {
  ...{ id: 'int_1', sessionId: 'ses_1', sessionName: 'talk', turn: 1, state: 'open', revision: 1, outcome: null, by: null },
  ask: {
    ...{ kind: 'command', tool: 'Bash', title: 'Run the tests', command: 'npm test', paths: [], detail: '', questions: [] },
    outcomes: ['approved', 'denied'],
  },
  ...{ answers: null, deadlineAt: null, createdAt: ago(60_000), settledAt: null },
};

const proposed = {
  name: 'npm-test-3f2a',
  yaml: '- name: npm-test-3f2a\n  action: approval\n  match:\n    command:\n      exact: npm test\n  verdict: allow\n',
  file: `${folder}/approvals.yaml`,
};

/** `none` yet, `some`, or some of which nothing can be used. */
type FakePolicies = FakeState['policies'];

const tested = (body: Record<string, unknown>, { files }: PolicyListed): unknown => {
  const denied = body['interaction'] !== undefined || String(body['command']).startsWith('git push');
  const found = denied ? items[2]! : items[0]!;
  return {
    ...{ verdict: found.verdict, rule: { name: found.name, file: found.file }, files },
    ...{
      text: found.text ?? 'A rule allows it.',
      fits: denied ? [rule('shell', { match: { kind: 'command' } }), found] : [found],
    },
  };
};

/** What it answers; undefined: it is no operation of these. */
export const policyAnswer = (name: OperationName, body: Record<string, unknown>, kind: FakePolicies): unknown => {
  const answers: Partial<Record<OperationName, () => unknown>> = {
    policyList: () => listed(kind),
    policyTest: () => tested(body, listed(kind)),
    policyPropose: () =>
      kind === 'broken' ? { rule: null, why: 'A rule would change nothing.' } : { rule: proposed, why: null },
    policyAdd: () => ({ interaction: { ...interaction, state: 'settled', outcome: 'approved', by: 'owner' }, rule: proposed }),
    interactionShow: () => interaction,
  };
  return answers[name]?.();
};
