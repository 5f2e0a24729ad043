import { useQuery } from '@tanstack/react-query';
import { node } from '../state/node.ts';

/** Whose files are looked at: the user's alone, or a project's, too. */
export const ProjectOf = ({ value, change }: { readonly value: string; readonly change: (project: string) => void }) => {
  const projects = useQuery({
    queryKey: ['projects'],
    queryFn: () => node.call('projectList', { query: { limit: 200 } }),
  });
  return (
    <label className="mb-1 flex items-baseline gap-2 text-quiet">
      of
      <select
        value={value}
        onChange={({ target }) => change(target.value)}
        className="h-7 max-w-60 rounded border border-line bg-ground px-1 text-ink"
      >
        <option value="">the user alone</option>
        {projects.data?.items.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
};
