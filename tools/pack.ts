// Makes what we publish: `node tools/pack.ts [folder]` (default dist/pack) writes one tarball for each package.
// Node strips no types below node_modules, so a published package is emitted JavaScript with its declarations and,
// for people who step into it, its sources; its `exports` point at the emitted files instead of the sources.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isTestCode } from './source.ts';

/** What is published. `node` is the oldest Node the package promises; `bin` the command it installs, by its
 * source file; `starts` our packages that it starts as programs and never imports. */
export const PUBLISHED: Record<
  string,
  { node: string; target: string; bin?: Record<string, string>; starts?: readonly string[] }
> = {
  protocol: { node: '>=20', target: 'es2022' },
  client: { node: '>=20', target: 'es2022' },
  'scripted-model': { node: '>=22.18', target: 'es2024' },
  node: { node: '>=22.18', target: 'es2024' },
  cli: { node: '>=22.18', target: 'es2024', bin: { orrery: './src/main.ts' }, starts: ['@orrery/node'] },
};

/** The fields of a package's manifest that matter here. */
export type Manifest = {
  name: string;
  version: string;
  exports: Record<string, string>;
  dependencies?: Record<string, string>;
  [field: string]: unknown;
};

const root = dirname(import.meta.dirname);

function run(command: string, args: readonly string[], cwd: string): string {
  const done = spawnSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  if (done.error) throw done.error;
  if (done.status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${done.stdout}${done.stderr}`);
  return done.stdout;
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** `./src/http.ts` → `./dist/http.js`, `./dist/http.d.ts`; other files (`./package.json`) stay what they are. */
function emitted(source: string): { types: string; default: string } | string {
  if (!source.startsWith('./src/')) return source;
  const stem = source.replace('./src/', './dist/').replace(/\.ts$/, '');
  return { types: `${stem}.d.ts`, default: `${stem}.js` };
}

/**
 * The manifest as published: exports of emitted files, the oldest Node promised, our own packages pinned to the
 * version in this repository. Throws when a dependency of ours is not published or named in another version.
 */
export function publishedManifest(
  manifest: Manifest,
  { name, versions }: { name: string; versions: ReadonlyMap<string, string> },
): Record<string, unknown> {
  const rule = PUBLISHED[name];
  if (rule === undefined) throw new Error(`${name} is not published.`);
  const started = (rule.starts ?? []).map((dependency) => [dependency, versions.get(dependency) ?? 'nothing']);
  const dependencies: Record<string, string> = { ...manifest.dependencies, ...Object.fromEntries(started) };
  for (const [dependency, version] of Object.entries(dependencies)) {
    if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
      throw new Error(`${manifest.name} depends on ${dependency}@${version}: pin one exact version.`);
    const ours = versions.get(dependency);
    if (dependency.startsWith('@orrery/') && ours !== version)
      throw new Error(
        `${manifest.name} depends on ${dependency}@${version}, but ${ours ?? 'nothing of that name'} is published.`,
      );
  }
  const bin = Object.entries(rule.bin ?? {}).map(([command, source]) => [
    command,
    source.replace('./src/', 'dist/').replace(/\.ts$/, '.js'),
  ]);
  const { devDependencies: _onlyHere, ...kept } = manifest;
  return {
    ...kept,
    dependencies,
    engines: { node: rule.node },
    exports: Object.fromEntries(Object.entries(manifest.exports).map(([entry, source]) => [entry, emitted(source)])),
    ...(bin.length > 0 && { bin: Object.fromEntries(bin) }),
    files: ['dist', 'src', 'native', 'web'],
  };
}

/** Emits JavaScript, declarations and source maps of the staged sources into `<stage>/dist`; the maps point at `<stage>/src`. */
function emit(name: string, stage: string): void {
  const config = join(stage, 'tsconfig.json');
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    sourceMap: true,
    target: PUBLISHED[name]?.target,
    rootDir: 'src',
    outDir: 'dist',
  };
  writeFileSync(config, JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include: ['src'] }));
  run(join(root, 'node_modules', '.bin', 'tsc'), ['-p', config], stage);
  rmSync(config);
}

/** Copies what the package reads at run time beside its code (SQL, JSON …) into dist, and the sources for people. */
function copySources(name: string, stage: string): void {
  const source = join(root, 'packages', name, 'src');
  const wanted = (path: string): boolean => !isTestCode(path) && basename(path) !== 'fixtures';
  cpSync(source, join(stage, 'src'), { recursive: true, filter: wanted });
  const notTypeScript = (path: string): boolean => wanted(path) && !path.endsWith('.ts');
  cpSync(source, join(stage, 'dist'), { recursive: true, filter: notTypeScript });
  const readme = join(root, 'packages', name, 'README.md');
  if (existsSync(readme)) cpSync(readme, join(stage, 'README.md'));
  cpSync(join(root, 'LICENSE'), join(stage, 'LICENSE'));
  const prebuilt = join(root, 'native', 'prebuilt');
  if (name !== 'node') return;
  if (existsSync(prebuilt)) cpSync(prebuilt, join(stage, 'native', 'prebuilt'), { recursive: true });
  const web = join(root, 'packages', 'web', 'dist');
  if (existsSync(web)) cpSync(web, join(stage, 'web'), { recursive: true });
}

/** Stages and packs every published package into `out`; returns the tarball of each by package name. */
export function packAll(out: string): Map<string, string> {
  // Below the repository, so that imports by name resolve while the types are read.
  mkdirSync(join(root, 'dist'), { recursive: true });
  const stages = mkdtempSync(join(root, 'dist', 'stage-'));
  try {
    return packInto(out, stages);
  } finally {
    rmSync(stages, { recursive: true, force: true });
  }
}

function packInto(out: string, stages: string): Map<string, string> {
  const manifests = new Map(Object.keys(PUBLISHED).map((name) => [name, readManifest(join(root, 'packages', name))]));
  const versions = new Map([...manifests.values()].map(({ name, version }) => [name, version]));
  const tarballs = new Map<string, string>();
  for (const [name, manifest] of manifests) {
    const stage = join(stages, name);
    mkdirSync(stage, { recursive: true });
    writeFileSync(
      join(stage, 'package.json'),
      `${JSON.stringify(publishedManifest(manifest, { name, versions }), undefined, 2)}\n`,
    );
    copySources(name, stage);
    emit(name, stage);
    checkExports(stage);
    const [packed] = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', out], stage)) as {
      filename: string;
    }[];
    if (packed === undefined) throw new Error(`npm pack made nothing of ${name}.`);
    tarballs.set(manifest.name, placeOf(packed.filename, out));
  }
  return tarballs;
}

/** Older npm names a scoped tarball `@scope/name-1.0.0.tgz` in its report but writes `scope-name-1.0.0.tgz`. */
function placeOf(filename: string, out: string): string {
  const written = readdirSync(out).find((file) => file === filename.replace('@', '').replace('/', '-'));
  if (written === undefined) throw new Error(`npm pack said ${filename}, which is not in ${out}.`);
  return join(out, written);
}

/** Throws when the manifest names a file that is not in the staged folder. */
function checkExports(stage: string): void {
  const { exports, bin = {} } = JSON.parse(readFileSync(join(stage, 'package.json'), 'utf8')) as {
    exports: object;
    bin?: object;
  };
  const named = [
    ...Object.values(exports).flatMap((entry) => (typeof entry === 'string' ? [entry] : Object.values(entry as object))),
    ...Object.values(bin),
  ];
  for (const file of named)
    if (!existsSync(join(stage, String(file))))
      throw new Error(`${stage}: the manifest names ${String(file)}, which was not emitted.`);
}

if (import.meta.main) {
  const out = resolve(process.argv[2] ?? join(root, 'dist', 'pack'));
  mkdirSync(out, { recursive: true });
  for (const [name, tarball] of packAll(out)) process.stdout.write(`${name}  ${tarball}\n`);
}
