import { Link } from '@tanstack/react-router';
import { Empty } from '../parts/states.tsx';

export const NothingHere = () => (
  <Empty>
    There is no page at this address.{' '}
    <Link to="/" className="text-accent underline">
      Inbox
    </Link>
  </Empty>
);
