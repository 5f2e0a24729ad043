/** Ctrl-]: leaves the program running. A terminal that was asked to tell keys apart sends it as one of the longer forms. */
const LEAVE = /\u001d|\u001b\[93(?::\d*)*;(?:5|69|133|197)(?::1)?(?:;[\d:]*)?u|\u001b\[27;5;93~/;

/** Whether what was typed leaves the program running. */
export const leaves = (bytes: Uint8Array): boolean => LEAVE.test(Buffer.from(bytes).toString('latin1'));
