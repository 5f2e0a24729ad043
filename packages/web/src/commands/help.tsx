import { Dialog } from '../parts/dialog.tsx';
import type { Command } from './registry.ts';

const groups = ['Go to', 'Do', 'Layout', 'Review'] as const;

/** All keys that do something here. */
export const Help = ({ commands, close }: { readonly commands: readonly Command[]; readonly close: () => void }) => (
  <Dialog name="Keys" close={close}>
    <div className="max-h-[75dvh] overflow-y-auto p-4">
      <h2 className="mb-2 font-semibold">Keys</h2>
      {groups.map((group) => {
        const mine = commands.filter((one) => one.group === group && one.keys !== undefined);
        return mine.length === 0 ? null : (
          <section key={group} aria-label={group} className="mb-3">
            <h3 className="text-quiet">{group}</h3>
            <dl className="grid grid-cols-[6rem_1fr] gap-y-1">
              {mine.map(({ id, keys, does }) => (
                <div key={id} className="contents">
                  <dt>
                    <Keys keys={keys ?? ''} />
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        );
      })}
      <p className="text-quiet">In a terminal the program has the keys; Ctrl-] gives them back to the page.</p>
    </div>
  </Dialog>
);

/** Keys as they stand on a keyboard. */
export const Keys = ({ keys }: { readonly keys: string }) => (
  <span className="whitespace-nowrap">
    {keys.split(' ').map((key, place) => (
      <kbd key={place} className="mr-1 rounded bg-raised px-1 font-mono">
        {key.replace('Mod+', navigator.platform.startsWith('Mac') ? '⌘' : 'Ctrl-')}
      </kbd>
    ))}
  </span>
);
