import type { AttachmentFacts } from '@orrery/protocol';
import { useEffect, useState } from 'react';
import { visible } from '../review/inert.ts';
import { node } from '../state/node.ts';
import { bytesOf } from './picture-bytes.ts';

/** Types that a browser draws and runs nothing of. */
const DRAWN: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

export const isDrawn = ({ mediaType }: Pick<AttachmentFacts, 'mediaType'>): boolean => DRAWN.includes(mediaType);

type PictureProps = { readonly session: string; readonly file: AttachmentFacts };

/** An image that was given to a session, in a frame whose height it never changes; a click shows it in its own size. */
export const Picture = ({ session, file }: PictureProps) => {
  const [large, setLarge] = useState(false);
  const shown = usePicture(session, file);
  const name = visible(file.name);
  if (shown === 'gone') return <p className="my-1 text-quiet">{name} is not kept any more.</p>;
  return (
    <button
      type="button"
      aria-label={large ? `${name}, smaller` : `${name}, in its own size`}
      className={`my-1 block max-w-full cursor-pointer overflow-auto ${large ? '' : 'h-48'}`}
      onClick={() => setLarge(!large)}
    >
      {shown === null ? (
        <span className="text-quiet">{name} …</span>
      ) : (
        <img src={shown} alt={name} className={large ? '' : 'h-full object-contain'} />
      )}
    </button>
  );
};

/** Its address in this page; null while it comes. */
const usePicture = (session: string, { id, mediaType }: AttachmentFacts): string | null => {
  const [shown, setShown] = useState<string | null>(null);
  useEffect(() => {
    const leaving = new AbortController();
    let address: string | null = null;
    bytesOf((offset) =>
      node.call('attachmentRead', { params: { id: session, attachment: id }, query: { offset }, signal: leaving.signal }),
    )
      .then((bytes) => {
        if (leaving.signal.aborted) return;
        if (bytes === null) return setShown('gone');
        address = URL.createObjectURL(new Blob([bytes], { type: mediaType }));
        setShown(address);
      })
      // Read again when it is next in sight.
      .catch(() => undefined);
    return () => {
      leaving.abort();
      if (address !== null) URL.revokeObjectURL(address);
    };
  }, [session, id, mediaType]);
  return shown;
};
