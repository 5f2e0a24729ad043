// The attempts of escape.c from inside a run: which ones get through, and what the keeper says it holds.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { after } from 'node:test'
import { asRoot, finished, k, own, root, running, uid } from './bench-run.mjs'

export const escape = `${root}/escape`
if (process.env.KEEPER_ESCAPE) copyFileSync(process.env.KEEPER_ESCAPE, escape)
else execFileSync('cc', ['-O1', '-o', escape, new URL('escape.c', import.meta.url).pathname])
chmodSync(escape, 0o755)
export const system = [['rox', '/usr'], ['rox', '/lib'], ['rox', '/lib64'], ['rox', '/bin'], ['ro', '/etc'], ['ro', '/proc'], ['rw', '/dev/null'], ['ro', '/dev/urandom'], ['rox', escape]]
const closers = []
after(() => closers.forEach((close) => close()))
export const listening = (server, where) => new Promise((resolve) => server.listen(where, () => resolve(server)) && closers.push(() => server.close()))

/** Allowed inside every wall; everything else that the program tries must be denied. */
export const harmless = ['inside-write', 'inside-rename', 'socketpair', 'netlink-route', 'own-server', 'shm']

export async function attempts(confinement, options = {}) {
  const place = own(mkdtempSync(`${root}/home-`))
  const work = own(mkdtempSync(`${root}/work-`))
  for (const path of [`${work}/git`, `${work}/git/hooks`]) mkdirSync(path), own(path)
  writeFileSync(`${place}/secret`, 'a secret that nobody reads')
  own(`${place}/secret`)
  const tcp = await listening(createServer((c) => c.end()), { port: 0, host: '::' })
  await listening(createServer((c) => c.end()), `${place}/docker.sock`)
  await listening(createServer((c) => c.end()), `\0${place}`)
  chmodSync(`${place}/docker.sock`, 0o777)
  const victim = spawn('sleep', ['60'], { env: { SECRET: 'in the environment' }, ...(asRoot ? {} : { uid: uid === process.getuid() ? undefined : uid, gid: uid === process.getgid() ? undefined : uid }) })
  const args = [`${place}/secret`, String(victim.pid), `${place}/docker.sock`, String(tcp.address().port), place, work]
  const run = await running(escape, args, { ...options, confinement: { files: [...system, ['rwx', work]], readonly: [`${work}/git/hooks`, `${work}/not-there`], ...confinement } })
  const { stdout, exit } = await finished(run)
  victim.kill('SIGKILL')
  assert.equal(exit.code, 0)
  const table = Object.fromEntries(stdout.trim().split('\n').map((line) => line.split(' ').slice(0, 2)))
  assert.ok(Object.keys(table).length > 60)
  return { allowed: Object.keys(table).filter((name) => table[name] === 'allowed'), guarantees: JSON.parse(readFileSync(k.join(run.dir, 'guarantees'), 'utf8')), secret: readFileSync(`${place}/secret`, 'utf8') }
}

export const held = (guarantees) => guarantees.filter((g) => g.held).map((g) => g.guarantee)
