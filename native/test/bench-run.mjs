// What every case needs: a place, a started keeper, a view, and the truth about processes from /proc.
import { chmodSync, chownSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { it } from 'node:test'
import * as k from './keeper-view.mjs'

export const binary = process.env.KEEPER ?? new URL('../build/orrery-keeper', import.meta.url).pathname
export const faulty = process.env.KEEPER_FAULTY ?? new URL('../build/keeper-faults', import.meta.url).pathname
/** The user the keepers of this run belong to; 0 root. */
export const uid = Number(process.env.KEEPER_UID ?? process.getuid())
/** A keeper of POSIX alone: no walls, no trees beyond the program's own group, no limits on trees. */
export const portable = process.env.KEEPER_PORTABLE === '1'
/** What a process is given to leave its group by. */
export const setsid = portable ? '' : 'setsid'
export const asRoot = uid === 0
/** For cases that need root: left out of root's second run as another user, which the first one covers; skipped for users. */
export const rootOnly = process.getuid() === 0 && !asRoot ? () => {} : (name, run) => it(name, { skip: process.getuid() !== 0 }, run)
export const keeperEnv = process.env.KEEPER_LOGS ? { ASAN_OPTIONS: `detect_leaks=0:log_path=${process.env.KEEPER_LOGS}/asan`, UBSAN_OPTIONS: `log_path=${process.env.KEEPER_LOGS}/ubsan` } : {}
Object.assign(process.env, keeperEnv) // for the keepers that a case starts by other means

export const root = mkdtempSync(k.join(process.env.KEEPER_PLACE ?? tmpdir(), 'keeper-test-'))
chmodSync(root, 0o755)
process.on('exit', () => rmSync(root, { recursive: true, force: true }))

let counter = 0
/** A word that marks every process of one case: it is in their command lines. */
export const mark = () => `${process.pid}${String(++counter).padStart(4, '0')}`
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
export const folder = () => k.makeDir(root, uid === process.getuid() ? 0 : uid)
export const own = (path) => (uid === process.getuid() ? path : (chownSync(path, uid, uid), path))

/** Processes (zombies not counted) whose command line holds `word`. */
export function alive(word) {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word) && !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    } catch {
      return false
    }
  })
}

export async function until(what, holds, ms = 30000) {
  const end = Date.now() + ms
  for (;;) {
    const value = await holds()
    if (value) return value
    if (Date.now() > end) throw new Error(`not in ${ms} ms: ${what}`)
    await sleep(10)
  }
}

/** Starts a keeper for a command without connecting. */
export async function launch(command, args = [], options = {}) {
  const { env, keeper = binary, keeperVariables = {}, startArgs, dir = folder(), ...spec } = options
  k.writeSpec(dir, k.specText(command, args, spec), { env, uid: uid === process.getuid() ? 0 : uid })
  const started = k.start(keeper, dir, { uid: uid === process.getuid() ? 0 : uid, env: { ...keeperEnv, ...keeperVariables }, args: startArgs })
  return { dir, ...started, line: await started.line }
}

/** Starts a keeper, connects, attaches both streams and says go. */
export async function running(command, args = [], options = {}) {
  const run = await launch(command, args, options)
  if (!run.line.startsWith('ready ')) throw new Error(`keeper said: ${run.line}`)
  const v = await k.view(run.dir)
  await v.attach('stdout')
  await v.attach('stderr')
  await v.request('go')
  return { ...run, v }
}

/** Waits for the end, finishes; gives everything there is to compare. */
export async function finished(run) {
  const exit = await run.v.request('wait')
  await run.v.ended('stdout')
  await run.v.ended('stderr')
  await run.v.request('finish')
  const keeper = await run.child.ended
  return { exit, keeper, stdout: run.v.bytes('stdout').toString(), stderr: run.v.bytes('stderr').toString() }
}

export const shell = async (script, options) => finished(await running('sh', ['-c', script], options))
export const outcome = ({ code, signal, limit, reason }) => ({ code, signal, limit, reason })
export const blocks = (path) => statSync(path).blocks * 512

/** State of an input from the journal's lines alone, as WIRE.md says. */
export function journalState(dir, id) {
  let text = ''
  try {
    text = readFileSync(k.join(dir, 'input'), 'utf8')
  } catch {
    return { state: 'unwritten' }
  }
  const lines = text.split('\n').slice(0, -1).map((line) => line.split(' ')).filter((words) => words[1] === id)
  const last = (kind) => lines.filter((w) => w[0] === kind).at(-1)
  if (!last('intent')) return { state: 'unwritten' }
  if (last('done')) return { state: 'written' }
  const surely = Number(last('did')?.[2] ?? 0)
  if (last('fail')) return Number(last('fail')[2]) > 0 ? { state: 'partial', bytes: Number(last('fail')[2]) } : { state: 'unwritten' }
  return last('try') ? { state: 'partial', bytes: surely } : { state: 'unwritten' }
}
export { k }
