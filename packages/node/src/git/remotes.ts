import type { Git } from './run.ts';

/**
 * Addresses of the remotes of a user's own clone as its Git would use them (`insteadOf` counts), origin first; nobody is asked,
 * and nothing is written.
 */
export const remotesOf = async (git: Git, folder: string): Promise<string[]> => {
  const list = await git.run({ profile: 'user', cwd: folder, args: ['remote'], okCodes: [0, 128] });
  const names = list.stdout
    .toString('utf8')
    .split('\n')
    .filter((name) => /^[A-Za-z0-9_][A-Za-z0-9._/-]{0,200}$/.test(name))
    .slice(0, 20)
    .toSorted((one, other) => Number(other === 'origin') - Number(one === 'origin'));
  const addresses = await Promise.all(
    names.map(async (name) => {
      const { code, stdout } = await git.run({
        ...{ profile: 'user', cwd: folder, args: ['remote', 'get-url', '--push', '--', name], okCodes: [0, 1, 2, 128] },
      });
      return code === 0 ? stdout.toString('utf8').trim() : '';
    }),
  );
  return addresses.filter((address) => address !== '');
};
