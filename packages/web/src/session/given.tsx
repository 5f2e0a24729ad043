import type { EventBody } from '@orrery/protocol';
import { visible } from '../review/inert.ts';
import { bytesText } from '../state/bytes.ts';

/** What a person said, and the files that went with it. */
export const Given = ({ body }: { readonly body: Extract<EventBody, { kind: 'user' }> }) => (
  <div className="my-2 rounded bg-raised px-3 py-2">
    <p className="said">{body.text}</p>
    {(body.attachments ?? []).map(({ id, name, mediaType, bytes }) => (
      <p key={id} className="said text-quiet">
        {visible(name)} · {mediaType} · {bytesText(bytes)}
      </p>
    ))}
  </div>
);
