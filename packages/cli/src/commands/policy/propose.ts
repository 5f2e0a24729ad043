import type { InteractionView, PolicyProposal } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { inert, inertLine } from '../../inert.ts';
import type { Command, CommandContext, Outcome } from '../command.ts';

type Rule = NonNullable<PolicyProposal['rule']>;

/** A rule goes to the policy file by a person: nothing on the command line says yes in the place of one. */
const confirm = async ({ mode, world, note }: CommandContext, rule: Rule, id: string): Promise<boolean> => {
  if (mode !== 'human' || !world.stdin.isTTY)
    throw new OrreryError('interaction_required', 'Nobody was asked whether the rule is to be added.', {
      rule: 'A rule goes to the policy file by a person, who sees it on a terminal.',
      fix: `orrery policy propose ${id} --add`,
    });
  note(inert(rule.yaml).trimEnd());
  const said = await world.stdin.readLine(`Add this to ${inertLine(rule.file)}, and allow it once? [y/N] `);
  return ['y', 'yes'].includes(said?.trim().toLowerCase() ?? '');
};

const add = async (context: CommandContext, rule: Rule, asked: InteractionView) => {
  const { client } = await context.connect();
  const { id, revision } = asked;
  return context.change({
    intent: { interaction: id, rule: rule.name },
    send: () => client.call('policyAdd', { params: { id }, body: { revision, yaml: rule.yaml } }),
    resources: (answer) => [answer.interaction.id],
  });
};

type Proposed = PolicyProposal & { readonly rule: Rule };

/** @throws OrreryError unsupported where there is no rule */
const propose = async (context: CommandContext, id: string): Promise<Proposed> => {
  const { client } = await context.connect();
  const proposal = await client.call('policyPropose', { params: { id } });
  const { rule, why } = proposal;
  if (rule !== null) return { ...proposal, rule };
  throw new OrreryError('unsupported', `There is no rule for it. ${why ?? ''}`.trim(), {
    rule: 'A rule is proposed for one command, or for files of the checkout.',
    fix: `orrery session answer ${id}`,
  });
};

/** Shows the rule for what is asked, asks whether it is to be added, and adds it; it is allowed once then. */
export const addByRule = async (context: CommandContext, asked: InteractionView): Promise<Outcome> => {
  const proposal = await propose(context, asked.id);
  const { rule } = proposal;
  if (!(await confirm(context, rule, asked.id))) return { result: { ...proposal, added: false }, text: 'No rule is added.' };
  const answer = await add(context, rule, asked);
  return {
    result: { ...proposal, added: true, interaction: answer.interaction },
    text: `${context.screen.good('✓')} ${inertLine(answer.rule.name)} stands in ${inertLine(answer.rule.file)}, and it is allowed once.`,
  };
};

/** `orrery policy propose`. */
export const policyPropose: Command = async (context) => {
  const { client } = await context.connect();
  const id = context.input.argument('interaction') ?? '';
  const asked = await client.call('interactionShow', { params: { id } });
  if (context.input.flag('add')) return addByRule(context, asked);
  const { rule, why } = await propose(context, id);
  return {
    result: { rule, why },
    text: inert(rule.yaml).trimEnd(),
    hints: [`  It would go to ${inertLine(rule.file)}: orrery policy propose ${id} --add`],
  };
};
