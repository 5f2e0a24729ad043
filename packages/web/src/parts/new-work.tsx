import { Link } from '@tanstack/react-router';
import { useMayAct } from '../state/caller.ts';

/** The ways to give an agent something to do, for who may. */
export const NewWork = () =>
  useMayAct() ? (
    <p className="mb-2 flex justify-end gap-4">
      <Link to="/sessions/new" className="text-accent underline">
        New session
      </Link>
      <Link to="/tasks/new" className="text-accent underline">
        New task
      </Link>
    </p>
  ) : null;
