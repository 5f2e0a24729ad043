import type { PushView } from '@orrery/protocol';
import { usePush } from '../state/push.ts';
import { Ago } from './ago.tsx';
import { Button } from './button.tsx';
import { Failed } from './states.tsx';

/** Offers to tell this browser also while no window is open, by its maker's push service. */
export const Push = () => {
  const { known, browsers, begin, tryIt, end, busy, error } = usePush();
  if (!known) return null;
  return (
    <section aria-label="Push" className="py-2 text-center text-quiet">
      <Button onClick={begin} disabled={busy}>
        Tell this browser while no window is open, too
      </Button>
      <p className="py-1">Its maker's push service carries the name of the session, and nothing that was said in it.</p>
      <ul aria-label="Browsers that are told">
        {browsers.map((one) => (
          <Told key={one.id} {...{ one, busy }} tryIt={() => tryIt(one.id)} end={() => end(one.id)} />
        ))}
      </ul>
      {error === null ? null : <Failed error={error} />}
    </section>
  );
};

type ToldProps = { readonly one: PushView; readonly busy: boolean; readonly tryIt: () => void; readonly end: () => void };

const Told = ({ one: { service, createdAt, toldAt, error }, busy, tryIt, end }: ToldProps) => (
  <li className="flex flex-wrap items-baseline justify-center gap-x-3 py-1">
    <span>
      {service}, since <Ago at={createdAt} />
    </span>
    {error === null ? (
      <span>
        {toldAt === null ? (
          'nothing yet'
        ) : (
          <>
            told <Ago at={toldAt} />
          </>
        )}
      </span>
    ) : (
      <span className="said text-bad">✗ {error}</span>
    )}
    <Button onClick={tryIt} disabled={busy}>
      Try it
    </Button>
    <Button onClick={end} disabled={busy}>
      Tell it no more
    </Button>
  </li>
);
