import { lazy, Suspense } from 'react';
import type { TerminalProps } from '../terminal/view.tsx';
import { Loading } from './states.tsx';

const View = lazy(async () => ({ default: (await import('../terminal/view.tsx')).TerminalView }));

/** A program's terminal, in a place that gives it its height. What draws it is loaded when the first one is shown. */
export const Terminal = (props: TerminalProps) => (
  <Suspense fallback={<Loading />}>
    <View key={`${props.environment}/${props.terminal}`} {...props} />
  </Suspense>
);
