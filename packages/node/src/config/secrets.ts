import { createCipheriv, createDecipheriv } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { OrreryError } from '@orrery/protocol/errors';
import { z } from 'zod';
import type { Clock } from '../kernel/clock.ts';
import { writeDurably } from '../kernel/durable-file.ts';
import { SECRET_BYTES } from '../kernel/limits.ts';
import { createMutex } from '../kernel/mutex.ts';
import type { Random } from '../kernel/random.ts';

/** One secret as listed: its name and where it comes from, never its value. */
export type SecretView = { readonly name: string; readonly source: 'store' | 'environment'; readonly setAtMs: number | null };

/**
 * Secrets by name. The store is a file (0600) in the data directory, each value sealed with AES-256-GCM under a key in the
 * configuration directory (0600), its name sealed with it. `ORRERY_SECRET_<NAME>` in the node's environment comes first.
 * Values leave through `read` alone.
 */
export type Secrets = {
  /** The value, or null when there is none of that name. Rejects with `config_invalid` when the store cannot be opened. */
  read(name: string): Promise<string | null>;
  set(name: string, value: string): Promise<void>;
  /** Answers whether there was one. */
  remove(name: string): Promise<boolean>;
  list(): Promise<readonly SecretView[]>;
};

export type SecretParts = {
  readonly file: string;
  readonly keyFile: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly random: Random;
  readonly clock: Pick<Clock, 'nowMs'>;
};

const secretName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const PREFIX = 'ORRERY_SECRET_';
const sealed = z.strictObject({ iv: z.string(), tag: z.string(), value: z.string(), setAtMs: z.int() });
const stored = z.strictObject({ version: z.literal(1), secrets: z.record(z.string(), sealed) });
type Stored = z.output<typeof stored>;
type Sealed = z.output<typeof sealed>;

/** The name in `secret:<name>`, or null for any other text. */
export const secretReference = (text: string): string | null => /^secret:(.+)$/.exec(text)?.[1] ?? null;

/** The secret that a setting names; without one, that with the name of what has the setting. */
export const secretOf = (setting: string | undefined, owner: string): string => secretReference(setting ?? '') ?? owner;

/** `my-key` → `ORRERY_SECRET_MY_KEY`. */
export const secretVariable = (name: string): string => `${PREFIX}${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;

export const createSecrets = ({ file, keyFile, env, random, clock }: SecretParts): Secrets => {
  const writes = createMutex();
  const change = <T>(edit: (secrets: Record<string, Sealed>) => Promise<T>): Promise<T> =>
    writes.run(file, async () => {
      const { secrets } = await readStored(file);
      const next = { ...secrets };
      const answer = await edit(next);
      await writeDurably(file, `${JSON.stringify({ version: 1, secrets: next } satisfies Stored)}\n`, { mode: 0o600 });
      return answer;
    });
  return {
    read: async (name) => {
      checkName(name);
      const fromEnvironment = env[secretVariable(name)];
      if (fromEnvironment !== undefined && fromEnvironment !== '') return fromEnvironment;
      const { secrets } = await readStored(file);
      const found = Object.hasOwn(secrets, name) ? secrets[name] : undefined;
      if (found === undefined) return null;
      return unseal(found, { name, key: await readKey(keyFile) });
    },
    set: async (name, value) => {
      checkName(name);
      if (value === '')
        throw new OrreryError('empty_input', `The secret "${name}" would be empty.`, { fix: `orrery secret set ${name}` });
      if (Buffer.byteLength(value) > SECRET_BYTES)
        throw new OrreryError('input_too_large', `The secret "${name}" is too large.`, {
          rule: `A secret has at most ${SECRET_BYTES} bytes.`,
        });
      await change(async (secrets) => {
        const key = Object.keys(secrets).length === 0 ? await ensureKey(keyFile, random) : await readKey(keyFile);
        secrets[name] = { ...seal(value, { name, key, iv: random.bytes(12) }), setAtMs: clock.nowMs() };
      });
    },
    remove: async (name) => {
      checkName(name);
      return await change(async (secrets) => {
        const there = Object.hasOwn(secrets, name);
        delete secrets[name];
        return there;
      });
    },
    list: async () => {
      const { secrets } = await readStored(file);
      const variables = Object.keys(env).filter((variable) => variable.startsWith(PREFIX) && env[variable] !== '');
      const byVariable = new Map(Object.keys(secrets).map((name) => [secretVariable(name), name]));
      const fromEnvironment = variables.map((variable): SecretView => ({
        name: byVariable.get(variable) ?? variable.slice(PREFIX.length).toLowerCase(),
        source: 'environment',
        setAtMs: null,
      }));
      const fromStore = Object.entries(secrets)
        .filter(([name]) => !variables.includes(secretVariable(name)))
        .map(([name, { setAtMs }]): SecretView => ({ name, source: 'store', setAtMs }));
      return [...fromEnvironment, ...fromStore].toSorted((one, other) => (one.name < other.name ? -1 : 1));
    },
  };
};

const checkName = (name: string): void => {
  if (secretName.test(name)) return;
  throw new OrreryError('invalid_input', 'That is no name of a secret.', {
    rule: 'A name has letters, digits and . _ -, begins with a letter or digit, and has at most 64 characters.',
  });
};

const seal = (value: string, { name, key, iv }: { name: string; key: Buffer; iv: Uint8Array }): Omit<Sealed, 'setAtMs'> => {
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  cipher.setAAD(Buffer.from(name));
  const bytes = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
  return { iv: Buffer.from(iv).toString('base64'), tag: cipher.getAuthTag().toString('base64'), value: bytes.toString('base64') };
};

const unseal = ({ iv, tag, value }: Sealed, { name, key }: { name: string; key: Buffer }): string => {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64'), { authTagLength: 16 });
    decipher.setAAD(Buffer.from(name));
    decipher.setAuthTag(Buffer.from(tag, 'base64'));
    return Buffer.concat([decipher.update(Buffer.from(value, 'base64')), decipher.final()]).toString('utf8');
  } catch {
    throw new OrreryError('config_invalid', `The secret "${name}" cannot be opened.`, {
      rule: 'It was sealed with another key, or its file was changed.',
      fix: `Set it again: orrery secret set ${name}`,
    });
  }
};

const readStored = async (file: string): Promise<Stored> => {
  const text = await readPrivate(file);
  if (text === null) return { version: 1, secrets: {} };
  const parsed = stored.safeParse(jsonOrNull(text));
  if (parsed.success) return parsed.data;
  throw new OrreryError('config_invalid', `The file of the secrets (${file}) is damaged.`, {
    rule: 'It is written by the node alone.',
    fix: `Move it away and set the secrets again: mv ${file} ${file}.old`,
  });
};

const jsonOrNull = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

const readKey = async (keyFile: string): Promise<Buffer> => {
  const text = await readPrivate(keyFile);
  const key = Buffer.from(text?.trim() ?? '', 'hex');
  if (key.length === 32) return key;
  throw new OrreryError('config_invalid', `The key of the secrets (${keyFile}) is missing or damaged.`, {
    rule: 'Without its key no stored secret can be read.',
    fix: 'Put the file back from a copy, or remove the secrets and set them again: orrery secret list',
  });
};

const ensureKey = async (keyFile: string, random: Random): Promise<Buffer> => {
  if ((await readPrivate(keyFile)) !== null) return await readKey(keyFile);
  const key = Buffer.from(random.bytes(32));
  await writeDurably(keyFile, `${key.toString('hex')}\n`, { mode: 0o600 });
  return key;
};

/** The text of a file that nobody else may read; null when there is none. */
const readPrivate = async (file: string): Promise<string | null> => {
  try {
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0) {
      throw new OrreryError('config_invalid', `${file} may be read or written by others.`, {
        rule: 'Secrets are for the user of the node alone.',
        fix: `chmod 600 ${file}`,
      });
    }
    return await readFile(file, 'utf8');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw thrown;
  }
};
