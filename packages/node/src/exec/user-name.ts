import { userInfo } from 'node:os';

/** The name of the user that the node runs as. A number that no name belongs to, as containers like to have, is its own name. */
export const userName = (read: () => { readonly username: string } = userInfo, uid: number = process.getuid?.() ?? 0): string => {
  try {
    return read().username;
  } catch (thrown) {
    if ((thrown as { code?: string }).code !== 'ERR_SYSTEM_ERROR') throw thrown;
    return String(uid);
  }
};
