import type { Task } from '@orrery/protocol';
import { useMemo, useState } from 'react';
import { Rows } from '../parts/rows.tsx';
import { useTaskLog } from '../state/use-task-log.ts';
import { taskRows } from './task-rows.ts';

/** What happens in a task while it happens, and afterwards when it is asked for. */
export const TaskLog = ({ task }: { readonly task: Task }) => {
  const [open, setOpen] = useState(task.verdict === null);
  return (
    <details open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)} className="mt-3 border-t border-line pt-2">
      <summary className="cursor-pointer font-semibold">What its agent said and did</summary>
      {open ? <Log key={task.id} id={task.id} over={task.verdict !== null} /> : null}
    </details>
  );
};

const none = (): void => undefined;

const Log = ({ id, over }: { readonly id: string; readonly over: boolean }) => {
  const all = useTaskLog(id);
  const rows = useMemo(() => taskRows(all), [all]);
  if (rows.length === 0) return <p className="py-2 text-quiet">{over ? 'Nothing was kept of it.' : 'Nothing happened yet.'}</p>;
  return (
    <div className="flex h-[50dvh] flex-col">
      <Rows rows={rows} older={false} readOlder={none} />
    </div>
  );
};
