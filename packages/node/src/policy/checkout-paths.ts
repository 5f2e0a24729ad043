// Files of a checkout, as programs name them. Pure.

import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withoutUnseen } from './unseen.ts';

/** Folders and files of a checkout that programs read their own orders from, in small letters. */
const ORDERS: ReadonlySet<string> = new Set([
  ...['.git', '.github', '.vscode', '.claude', '.codex', '.pi', '.opencode', '.gemini', '.qwen', '.copilot', '.cursor', '.grok'],
  ...['.agents', '.husky', '.orrery', '.mcp.json', 'opencode.json', 'opencode.jsonc'],
]);
/** Texts that programs follow, which people have changed like others: no rule allows them, a mode may. */
const TEXTS: ReadonlySet<string> = new Set([
  ...['agents.md', 'agents.override.md', 'claude.md', 'claude.local.md', 'gemini.md', 'qwen.md'],
  ...['.cursorrules', '.envrc', '.gitattributes', '.gitmodules'],
]);

/** The path as a program means it: `file:` URLs are paths. Null: it cannot be told which one it is. */
const meant = (path: string): string | null => {
  if (path === '~' || path.startsWith('~/')) return null;
  if (!/^file:/i.test(path)) return path;
  try {
    return fileURLToPath(path, { windows: false });
  } catch {
    return null;
  }
};

/** The path from the root of the checkout, which is ''; null: it lies outside, or it cannot be told. */
export const placeIn = (workdir: string, path: string): string | null => {
  const said = meant(path);
  if (said === null) return null;
  const inside = posix.relative(workdir, posix.resolve(workdir, said));
  return inside === '..' || inside.startsWith('../') ? null : inside;
};

/** The path from the root of the checkout; null: it lies outside, is the root, or it cannot be told. */
export const insideOf = (workdir: string, path: string): string | null => placeIn(workdir, path) || null;

/** A name as a file system takes it that does not tell capitals, or passes over characters that nobody sees. */
const plain = (part: string): string => withoutUnseen(part).toLowerCase();

/** Whether a program may take orders from it: it is the first part of its path that tells. */
export const holdsOrders = (inside: string): boolean => ORDERS.has(plain(inside.split('/')[0] ?? ''));

/** The same of any part of it, and of texts that programs follow. */
export const mayHoldOrders = (inside: string): boolean =>
  inside.split('/').some((part) => ORDERS.has(plain(part)) || TEXTS.has(plain(part)));

/** The checkout of what is tried, or of which it is not known: paths are from its root, and an absolute one lies beside it. */
export const SOME_CHECKOUT = '/checkout';
