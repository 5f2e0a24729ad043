import { useNotifications } from '../state/needs.ts';
import { Button } from './button.tsx';
import { Push } from './push.tsx';

/** Offers to tell, outside of the page, that something needs the person. */
export const Notifying = () => {
  const { permission, ask } = useNotifications();
  if (permission === 'default')
    return (
      <p className="py-4 text-center">
        <Button onClick={ask}>Notify me when something needs me</Button>
      </p>
    );
  if (permission === 'granted') return <Push />;
  return permission === 'denied' ? (
    <p className="py-4 text-center text-quiet">This browser was told not to notify you; its settings for this page say so.</p>
  ) : null;
};
