// Files of a checkout, as programs name them. Pure.

import { posix } from 'node:path';

/** Folders and files of a checkout that programs read their own orders from. */
const ORDERS: ReadonlySet<string> = new Set([
  ...['.git', '.github', '.vscode', '.claude', '.codex', '.pi', '.opencode', '.gemini', '.qwen', '.copilot', '.cursor', '.grok'],
  ...['.mcp.json', 'opencode.json', 'opencode.jsonc'],
]);

/** The path from the root of the checkout; null: it lies outside, or is the root. */
export const insideOf = (workdir: string, path: string): string | null => {
  const inside = posix.relative(workdir, posix.resolve(workdir, path));
  return inside === '' || inside === '..' || inside.startsWith('../') ? null : inside;
};

/** Whether a program may take orders from it: it is the first part of its path that tells. */
export const holdsOrders = (inside: string): boolean => ORDERS.has(inside.split('/')[0] ?? '');

/** The same of any part of it. */
export const mayHoldOrders = (inside: string): boolean => inside.split('/').some((part) => ORDERS.has(part));
