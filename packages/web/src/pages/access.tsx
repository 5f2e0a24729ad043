import type { TokenView } from '@orrery/protocol';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Ago } from '../parts/ago.tsx';
import { Answer } from '../parts/answer.tsx';
import { NodePage } from '../parts/node-page.tsx';
import { Empty, Failed } from '../parts/states.tsx';
import { Sure } from '../parts/sure.tsx';
import { visible } from '../review/inert.ts';
import { node } from '../state/node.ts';

/** Who is let in: browsers and programs, each by a token that is shown to nobody. */
export const AccessPage = () => {
  const query = useQuery({ queryKey: ['tokens'], queryFn: () => node.call('tokenList') });
  return (
    <NodePage name="Access" command="orrery token list">
      <Answer query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty command="orrery token create NAME --scope viewer">Nobody has a token but the owner at the node itself.</Empty>
          ) : (
            <ul aria-label="Tokens">
              {items.map((token) => (
                <Token key={token.id} token={token} />
              ))}
            </ul>
          )
        }
      </Answer>
    </NodePage>
  );
};

const Token = ({ token: { id, name, scope, createdAt, lastUsedAt, expiresAt } }: { readonly token: TokenView }) => {
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => node.call('tokenRemove', { params: { id } }),
    onSettled: () => void queries.invalidateQueries(),
  });
  return (
    <li className="flex min-h-8 flex-wrap items-center gap-x-3 border-b border-line py-1">
      <span className="font-semibold">{visible(name)}</span>
      <span>{scope}</span>
      <span className="text-quiet">
        made <Ago at={createdAt} />
      </span>
      <span className="text-quiet">
        {lastUsedAt === null ? (
          'never used'
        ) : (
          <>
            used <Ago at={lastUsedAt} />
          </>
        )}
      </span>
      {expiresAt === null ? null : <span className="text-quiet">until {new Date(expiresAt).toLocaleDateString()}</span>}
      <span className="ml-auto">
        <Sure name="Remove" says="Who has it is let in no more." disabled={remove.isPending} act={() => remove.mutate()} />
      </span>
      {remove.error === null ? null : <Failed error={remove.error} />}
    </li>
  );
};
