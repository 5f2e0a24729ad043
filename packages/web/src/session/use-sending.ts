import type { SessionView } from '@orrery/protocol';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useContext, useRef, useState } from 'react';
import { CommandsContext } from '../commands/use-commands.ts';
import { node, requestId } from '../state/node.ts';
import { whyNot, whyNotTogether } from './picked.ts';
import { meaningOf, type Meant, type Slash } from './slash.ts';

/** How long an upload may take, ms. */
const UPLOAD_MS = 60_000;

/** A file that is to go with an input. The same one that is sent again is the same request. */
export type Picked = { readonly request: string; readonly file: File; readonly refused: string | null };

const upload = async (session: string, { file, request }: Picked): Promise<string> => {
  const body = new Uint8Array(await file.arrayBuffer());
  const query = { name: file.name === '' ? 'pasted' : file.name.slice(0, 200), requestId: request };
  return (await node.call('attachmentAdd', { params: { id: session }, query, body, timeoutMs: UPLOAD_MS })).id;
};

type Given = { readonly meant: Meant; readonly files: readonly Picked[]; readonly request: string };

/** Does what a text means. */
const useDoing = ({ id }: SessionView) => {
  const { list } = useContext(CommandsContext);
  const navigate = useNavigate();
  return async ({ meant, files, request }: Given): Promise<void> => {
    if (meant.kind === 'refused') return;
    if (meant.kind === 'set') {
      await node.call('sessionSet', { params: { id }, body: meant.set });
      return;
    }
    if (meant.kind === 'say') {
      const attachments: string[] = [];
      for (const one of files) attachments.push(await upload(id, one));
      const more = attachments.length === 0 ? {} : { attachments };
      await node.call('turnAdd', { params: { id }, body: { ...meant.turn, ...more, requestId: request } });
      return;
    }
    if (meant.command === 'changes') return void navigate({ to: '/sessions/$name/changes', params: { name: id } });
    list()
      .find((one) => one.id === meant.command)
      ?.run();
  };
};

/** Words and files of one's own, until they were sent; what could not be sent stays there. */
export const useSending = (session: SessionView, all: readonly Slash[]) => {
  const [text, setText] = useState('');
  const [files, setFiles] = useState<readonly Picked[]>([]);
  // The same words that are sent again after a failure are the same request.
  const request = useRef<string | null>(null);
  const queries = useQueryClient();
  const doing = useDoing(session);
  const send = useMutation({
    mutationFn: (kind: 'prompt' | 'steer') => {
      request.current ??= requestId();
      return doing({ meant: meaningOf(text, all, kind), files, request: request.current });
    },
    onSuccess: () => {
      request.current = null;
      setText('');
      setFiles([]);
      void queries.invalidateQueries();
    },
  });
  const meant = meaningOf(text, all);
  const refused = meant.kind === 'refused' ? meant.why : whyNotTogether(files.map(({ file }) => file));
  const something = text.trim() !== '' || files.length > 0;
  return {
    ...{ text, files, send, refused },
    can: something && refused === null && files.every((one) => one.refused === null) && !send.isPending,
    change: (words: string): void => {
      request.current = null;
      setText(words);
    },
    add: (more: readonly File[]): void => {
      request.current = null;
      setFiles([...files, ...more.map((file) => ({ request: requestId(), file, refused: whyNot(file) }))]);
    },
    remove: (one: Picked): void => {
      request.current = null;
      setFiles(files.filter((other) => other !== one));
    },
  };
};

export type Sending = ReturnType<typeof useSending>;
