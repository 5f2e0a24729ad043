/** Takes user names, passwords and tokens out of every URL in a text, and out of header lines that carry them. */
export const hideCredentials = (text: string): string =>
  text
    .replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@'"]*@/gi, '$1')
    .replace(/\b(authorization|proxy-authorization)\s*[:=]\s*\S+(\s+\S+)?/gi, '$1: (hidden)')
    .replace(/([?&](?:access_token|token|password|key|private_token)=)[^&\s'"]+/gi, '$1(hidden)');
