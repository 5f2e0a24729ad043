// The policy file that people add rules to.

import { mkdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import type { RuleText } from '../config/policy-schema.ts';
import { writeDurably } from '../kernel/durable-file.ts';
import { withRule } from './rule-text.ts';
import { NOT_UTF8, textOfBytes } from './utf8.ts';

const textOf = async (path: string): Promise<string | null> => {
  const bytes = await readFile(path).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'ENOENT') return null;
    throw new OrreryError('config_invalid', `${path} cannot be read (${thrown.code ?? 'unknown reason'}).`, {
      fix: `ls -l ${path}`,
      cause: thrown,
    });
  });
  if (bytes === null) return null;
  const text = textOfBytes(bytes);
  if (text !== null) return text;
  throw new OrreryError('config_invalid', `${path}: ${NOT_UTF8}.`, {
    rule: 'What people wrote into a policy file stays as it is.',
    fix: 'Save it as UTF-8 with an editor.',
  });
};

/**
 * Adds a rule to a file, which after a crash is whole, with the rule or without. A link is followed; a new file is for its owner
 * alone, another keeps its mode. @throws OrreryError config_invalid, or conflict when somebody writes it at the same time
 */
export const addRule = async (path: string, given: { readonly rule: RuleText; readonly projectName: string }): Promise<void> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const before = await textOf(path);
  const target = before === null ? path : await realpath(path);
  const mode = before === null ? 0o600 : (await stat(target)).mode & 0o755;
  const after = withRule(before ?? '', { ...given, path });
  if ((await textOf(path)) !== before)
    throw new OrreryError('conflict', `${path} is being changed by somebody else.`, {
      rule: 'What people write into a policy file is not written over.',
      fix: 'Save it, and add the rule again.',
    });
  await writeDurably(target, after, { mode });
};
