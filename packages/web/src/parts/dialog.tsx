import { useEffect, useRef } from 'react';

/** Something over the page, with the keys, until it is left. What had them gets them back. */
export const Dialog = (props: { readonly name: string; readonly close: () => void; readonly children: React.ReactNode }) => {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    dialog.current?.querySelector('input')?.focus();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-label={props.name}
      onClose={props.close}
      onClick={(event) => {
        if (event.target === dialog.current) dialog.current.close();
      }}
      className="mx-auto mt-[10dvh] w-[min(40rem,calc(100vw-1.5rem))] rounded border border-line bg-ground p-0 text-ink backdrop:bg-black/40"
    >
      {props.children}
    </dialog>
  );
};
