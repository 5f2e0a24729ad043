// What the cases about trees and archives need: trees, the binary's commands, and what is the same on both sides.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs'
import { binary, keeperEnv, own, root, uid } from './bench-run.mjs'

export const as = uid === process.getuid() ? {} : { uid, gid: uid }
const has = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
/** Why a case that needs it is left out; false when it is there. */
const missing = (there, what) => (there ? false : `${what} is not installed`)
const gnu = spawnSync('tar', ['--version']).stdout?.toString().includes('GNU tar') ?? false
const busybox = has('busybox') && spawnSync('busybox', ['tar', '--help']).stderr?.toString().includes('tar') === true
export const noGnu = missing(gnu, 'GNU tar')
export const noBusybox = missing(busybox, 'busybox')
export const command = (words, input) => {
  const done = spawnSync(binary, words, { input, env: keeperEnv, maxBuffer: 1 << 30, ...as })
  return { code: done.status, out: done.stdout, err: done.stderr.toString() }
}
export const ok = (words, input) => {
  const done = command(words, input)
  assert.equal(`${done.code} ${done.err}`, '0 ')
  return done.out
}
export const run = (program, words, options = {}) => execFileSync(program, words, { maxBuffer: 1 << 30, stdio: ['pipe', 'pipe', 'pipe'], ...as, ...options })
/** The folder that was made last. */
export let newest
export const place = () => (newest = own(mkdtempSync(`${root}/archive-`)))
export const names = (...all) => Buffer.from(all.map((name) => `${name}\0`).join(''), 'latin1')
/** As the user of the run, so that what is made is theirs. */
export const shell = (dir, script) => run('sh', ['-c', script], { cwd: dir })

/** What `list` says, by path. */
export function list(dir, ...options) {
  const fields = ok(['list', dir, ...options]).toString('latin1').split('\0')
  const entries = {}
  assert.deepEqual(fields.splice(-2), ['', ''], 'the end is said')
  for (; fields.length; fields.splice(0, 8)) {
    const [path, type, mode, size, mtime, ctime, inode, target] = fields
    entries[path] = { type, mode, size, mtime, ctime, inode, target }
  }
  return entries
}
/** What must be the same on both sides of a copy. */
export const essence = (dir) => Object.fromEntries(Object.entries(list(dir)).sort().map(([path, { type, mode, size, mtime, target }]) => [path, type === 'd' ? { type, mode, mtime } : { type, mode, size, mtime, target, bytes: type === 'f' ? createHash('md5').update(readFileSync(Buffer.from(`${dir}/${path}`, 'latin1'))).digest('hex') : '' }]))
export const withoutFractions = (tree) => Object.fromEntries(Object.entries(tree).map(([path, entry]) => [path, { ...entry, mtime: entry.mtime.slice(0, -9) }]))

export const long = (n) => 'n'.repeat(n)
/** A tree with everything a name, a mode or a time can be. */
export function oddTree() {
  const dir = `${place()}/odd`
  own((mkdirSync(dir), dir))
  shell(dir, `mkdir -p sub/deep empty closed "${long(200)}/${long(200)}/${long(90)}"
    printf hello > sub/file; printf x > "$(printf 'new\\nline \\377\\001')"; : > nothing; head -c 100000 /dev/urandom > large
    printf 1 > "${long(200)}/${long(200)}/${long(90)}/${long(255)}"; printf 2 > "sub/${long(98)}"; printf 3 > "sub/${long(250)}"; printf 4 > "${long(100)}"; printf 5 > "${long(101)}"
    ln -s sub/file link; ln -s /nowhere dangling; ln -s "${long(300)}" far; ln -s sub dirlink
    chmod 640 sub/file; chmod 755 large; printf r > closed/in; chmod 500 closed
    touch -d '1969-07-20 20:17:40.25' sub/file; touch -d '2001-02-03 04:05:06.123456789' large; touch -h -d '2002-01-01' link; touch -d '1999-01-01 01:01:01.5' empty sub`)
  return dir
}
