import type { ReportedCatalogue, SessionView } from '@orrery/protocol';
import { useQuery } from '@tanstack/react-query';
import { node } from '../state/node.ts';

/** What its program reported of itself; asking wakes nothing. */
export const useCatalogue = (id: string): ReportedCatalogue | undefined =>
  useQuery({ queryKey: ['session', id, 'commands'], queryFn: () => node.call('sessionCommands', { params: { id } }) }).data;

/** Efforts of the model it works with, or of all where that is unknown. */
export const effortsOf = (catalogue: ReportedCatalogue | undefined, { model }: Pick<SessionView, 'model'>): readonly string[] => {
  const models = catalogue?.models ?? [];
  const own = models.find((one) => one.id === model || one.model === model);
  return [...new Set((own === undefined ? models : [own]).flatMap(({ efforts }) => efforts))];
};
