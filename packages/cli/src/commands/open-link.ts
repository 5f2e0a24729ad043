import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { CommandContext } from './command.ts';

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

type Link = { readonly link: string; readonly name: string };

/** A page that goes to a link that lets in, and that nobody else can read: arguments of processes are seen by every user of the machine. */
export const writeLinkFile = async (context: CommandContext, { link, name }: Link): Promise<string> => {
  const file = join(dirname(context.paths.upLog), `${name}.html`);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const page = await open(file, 'w', 0o600);
  try {
    await page.chmod(0o600);
    await page.writeFile(`<!doctype html><meta http-equiv="refresh" content="0;url=${escaped(link)}">\n`);
  } finally {
    await page.close();
  }
  return file;
};

/** Opens a link that lets in. */
export const openInBrowser = async (context: CommandContext, link: Link): Promise<void> => {
  const file = await writeLinkFile(context, link);
  if (!(await context.world.processes.browse(file))) context.warn('No browser could be started: open the link yourself.');
};
