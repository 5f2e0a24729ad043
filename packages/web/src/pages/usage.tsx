import type { ModelUsage } from '@orrery/protocol';
import { useQuery } from '@tanstack/react-query';
import { Answer } from '../parts/answer.tsx';
import { NodePage } from '../parts/node-page.tsx';
import { Empty } from '../parts/states.tsx';
import { visible } from '../review/inert.ts';
import { node } from '../state/node.ts';

const number = new Intl.NumberFormat('en');
const money = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', maximumFractionDigits: 4 });

/** What model calls took, by model, as the gateway counted it. */
export const UsagePage = () => {
  const query = useQuery({ queryKey: ['usage'], queryFn: () => node.call('usageShow', { query: {} }) });
  return (
    <NodePage name="Usage" command="orrery usage">
      <Answer query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty command='orrery run "fix the failing test"'>
              No model was called. Tokens and cost are counted when an agent runs:
            </Empty>
          ) : (
            <Models items={items} />
          )
        }
      </Answer>
    </NodePage>
  );
};

const tokensOf = ({ inputTokens, outputTokens }: ModelUsage): number => inputTokens + outputTokens;
const columns = ['calls', 'in', 'of it cached', 'out', 'of it thought', 'cost'] as const;

const Models = ({ items }: { readonly items: readonly ModelUsage[] }) => {
  const most = Math.max(...items.map(tokensOf));
  const costs = items.map(({ costUsd }) => costUsd);
  const total = costs.reduce<number | null>((sum, cost) => (sum === null || cost === null ? null : sum + cost), 0);
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="Usage by model">
      <table className="w-full border-collapse text-right">
        <thead>
          <tr className="border-b border-line text-quiet">
            <th className="py-1 text-left font-normal">model</th>
            {columns.map((name) => (
              <th key={name} className="pl-4 font-normal whitespace-nowrap">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items
            .toSorted((one, other) => tokensOf(other) - tokensOf(one))
            .map((one) => (
              <Model key={`${one.provider}/${one.model}`} one={one} most={most} />
            ))}
        </tbody>
        <tfoot>
          <tr>
            <th className="py-1 text-left font-semibold">total</th>
            <td colSpan={columns.length} className="font-semibold">
              {total === null ? 'unknown: a model has no known price' : money.format(total)}
            </td>
          </tr>
        </tfoot>
      </table>
    </div>
  );
};

const Model = ({ one, most }: { readonly one: ModelUsage; readonly most: number }) => (
  <tr className="border-b border-line">
    <th className="min-w-44 py-1 text-left font-normal">
      <span className="said">
        {visible(one.provider)}/{visible(one.model)}
      </span>
      <span
        aria-hidden="true"
        className="mt-0.5 block h-1 rounded bg-accent"
        style={{ width: `${most === 0 ? 0 : (tokensOf(one) / most) * 100}%` }}
      />
    </th>
    {[one.calls, one.inputTokens, one.cachedTokens, one.outputTokens, one.reasoningTokens].map((value, at) => (
      <td key={columns[at]} className="pl-4 tabular-nums">
        {number.format(value)}
      </td>
    ))}
    <td className="pl-4 tabular-nums">{one.costUsd === null ? 'unknown' : money.format(one.costUsd)}</td>
  </tr>
);
