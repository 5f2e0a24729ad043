import type { AttachmentFacts, ToolPicture } from '@orrery/protocol';
import { useEffect, useState } from 'react';
import { visible } from '../review/inert.ts';
import { bytesText } from '../state/bytes.ts';
import { node } from '../state/node.ts';
import { bytesOf, bytesOfDetail, MAX_POINTS, pointsOf } from './picture-bytes.ts';

/** Types that a browser draws and runs nothing of. */
const DRAWN: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
/** Of a detail, bytes that are asked for at once: a multiple of four, as base64 is read. */
const PAGE_BYTES = 1_048_576;

export const isDrawn = ({ mediaType }: Pick<AttachmentFacts, 'mediaType'>): boolean => DRAWN.includes(mediaType);

type Read = (signal: AbortSignal) => Promise<Uint8Array<ArrayBuffer> | null>;

/** An image that was given to a session. */
export const Picture = ({ session, file }: { readonly session: string; readonly file: AttachmentFacts }) => {
  const { id, mediaType, name } = file;
  const read: Read = (signal) =>
    bytesOf((offset) => node.call('attachmentRead', { params: { id: session, attachment: id }, query: { offset }, signal }));
  return <Drawn of={`${session} ${id}`} mediaType={mediaType} name={visible(name)} read={read} />;
};

/** Pictures that a tool gave back, each where its result stands. */
export const ToolPictures = (props: { readonly session: string | undefined; readonly pictures: readonly ToolPicture[] }) =>
  props.pictures.map((picture, place) => (
    // Two pictures of one result may be the same.
    // eslint-disable-next-line react/no-array-index-key
    <OfTool key={place} session={props.session} picture={picture} name={`picture ${place + 1}`} />
  ));

type OfToolProps = { readonly session: string | undefined; readonly picture: ToolPicture; readonly name: string };

const OfTool = ({ session, picture: { mediaType, bytes, locator }, name }: OfToolProps) => {
  if (session === undefined || locator === null || locator.startsWith('data:'))
    return (
      <p className="text-quiet">
        {name}: {mediaType}, {bytesText(bytes)}, not kept
      </p>
    );
  const read: Read = (signal) =>
    bytesOfDetail((offset) =>
      node.call('sessionDetail', { params: { id: session, locator }, query: { offset, limit: PAGE_BYTES }, signal }),
    );
  return <Drawn of={`${session} ${locator}`} mediaType={mediaType} name={name} read={read} />;
};

type DrawnProps = {
  /** Which one it is. */
  readonly of: string;
  readonly mediaType: string;
  readonly name: string;
  readonly read: Read;
};

/** In a frame whose height it never changes; a click shows it in its own size. */
const Drawn = ({ of, mediaType, name, read }: DrawnProps) => {
  const [large, setLarge] = useState(false);
  const shown = usePicture(of, mediaType, read);
  if (shown === 'gone') return <p className="my-1 text-quiet">{name} is not kept any more.</p>;
  if (shown === 'huge') return <p className="my-1 text-careful">! {name} has more points than are drawn here.</p>;
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
const usePicture = (of: string, mediaType: string, read: Read): string | null => {
  const [shown, setShown] = useState<string | null>(null);
  useEffect(() => {
    const leaving = new AbortController();
    let address: string | null = null;
    read(leaving.signal)
      .then((bytes) => {
        if (leaving.signal.aborted) return;
        if (bytes === null) return setShown('gone');
        if ((pointsOf(bytes) ?? 0) > MAX_POINTS) return setShown('huge');
        address = URL.createObjectURL(new Blob([bytes], { type: mediaType }));
        setShown(address);
      })
      // Read again when it is next in sight.
      .catch(() => undefined);
    return () => {
      leaving.abort();
      if (address !== null) URL.revokeObjectURL(address);
    };
    // `of` says which one `read` reads.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [of, mediaType]);
  return shown;
};
