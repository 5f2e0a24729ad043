import type { ClientRequest } from 'node:http';

/**
 * Calls `failed` at most once: with the error of a request, or when it ends without an answer although nothing says that this is
 * an error. A server that switches to another protocol unasked would take the connection out of the hands of bounds and
 * signals. To be called before the request is ended.
 */
export const onFailure = (sent: ClientRequest, failed: (why: NodeJS.ErrnoException) => void): void => {
  let over = false;
  const fail = (why: NodeJS.ErrnoException): void => {
    if (over) return;
    over = true;
    failed(why);
  };
  let answered = false;
  sent.once('response', () => (answered = true));
  sent.on('error', fail);
  sent.once('upgrade', (_answer, socket) => {
    socket.destroy();
    fail(Object.assign(new Error('it switches to another protocol, which nobody asked for'), { code: 'EPROTO' }));
  });
  sent.once('close', () => {
    if (!answered) fail(Object.assign(new Error('it closed the connection without an answer'), { code: 'ECONNRESET' }));
  });
};
