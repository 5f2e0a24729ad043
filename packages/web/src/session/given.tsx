import type { EventBody } from '@orrery/protocol';
import { visible } from '../review/inert.ts';
import { bytesText } from '../state/bytes.ts';
import { isDrawn, Picture } from './picture.tsx';

type GivenProps = { readonly body: Extract<EventBody, { kind: 'user' }>; readonly session: string | undefined };

/** What a person said, and the files that went with it. */
export const Given = ({ body, session }: GivenProps) => (
  <div className="my-2 rounded bg-raised px-3 py-2">
    <p className="said">{body.text}</p>
    {(body.attachments ?? []).map((file) => (
      <div key={file.id}>
        <p className="said text-quiet">
          {visible(file.name)} · {file.mediaType} · {bytesText(file.bytes)}
        </p>
        {session === undefined || !isDrawn(file) ? null : <Picture session={session} file={file} />}
      </div>
    ))}
  </div>
);
