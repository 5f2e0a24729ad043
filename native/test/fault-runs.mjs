// Every call to the system fails once, each one at each place where it comes: a run that cannot be had is refused, one that cannot go on is
// ended and says so; none hangs, leaves a process behind, or says what is not so. And clocks: no limit is counted by the wall clock.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { constants } from 'node:os'
import { describe, it } from 'node:test'
import { alive, faulty, finished, folder, journalState, k, mark, outcome, own, root, running, sleep, uid, until } from './bench-run.mjs'

const { EIO, ENOSPC, EMFILE, ENOMEM, EAGAIN, EINTR, EPERM, EACCES } = constants.errno
const OUT = 'out\nin\n'
/** What an honest client waits for at most; the keeper's own limits in these runs are shorter. */
const PATIENCE_MS = 30000

/** How each call fails; every one of them at every place. */
const failing = {
  open: [EMFILE], openat: [ENOSPC], read: [EIO], write: [ENOSPC], pread: [EIO], pwrite: [ENOSPC], send: [EIO], recv: [EIO], sendmsg: [ENOMEM], recvmsg: [ENOMEM], poll: [ENOMEM],
  pipe2: [EMFILE], socket: [EMFILE], socketpair: [EMFILE], bind: [EACCES], listen: [EIO], accept4: [EMFILE], signalfd: [EMFILE], fsync: [EIO], fdatasync: [EIO], ftruncate: [EIO],
  posix_fallocate: [ENOSPC], fallocate: [ENOSPC], renameat: [EIO], unlinkat: [EACCES], fstat: [EIO], fstatat: [EIO], chmod: [EPERM], chdir: [EACCES], dup2: [EMFILE], fork: [EAGAIN], setsid: [EPERM],
  waitpid: [EINTR], wait4: [EINTR], waitid: [EINTR], setrlimit: [EPERM], execvp: [EACCES], malloc: [ENOMEM], calloc: [ENOMEM], realloc: [ENOMEM], opendir: [EMFILE], close: [EIO],
  fcntl: [EMFILE], prctl: [EPERM], syscall: [EAGAIN],
}
/** What builds the walls of a confined run. */
const building = { syscall: EPERM, prctl: EPERM, mount: EPERM, ioctl: EIO, open: EMFILE, write: EIO, fork: EAGAIN }
/** What a kernel may do at any time: nothing of it may be seen from outside. */
const harmless = { read: [EINTR, 'short'], write: [EINTR, 'short'], pread: ['short'], pwrite: [EINTR, 'short'], send: [EINTR], sendmsg: [EINTR], recvmsg: [EINTR], poll: [EINTR], wait4: [EINTR], waitid: [EINTR] }

/** A connection that is made again when it breaks, until the keeper is gone. */
async function patiently(run, ask) {
  const end = Date.now() + PATIENCE_MS
  for (;;) {
    if (run.child.exitCode !== null || run.child.signalCode !== null) return null
    if (Date.now() > end) throw new Error('it neither answers nor ends')
    const v = await k.view(run.dir).catch(() => null)
    if (v) {
      const gone = v.done.then(() => undefined)
      const answer = await Promise.race([ask(v).then((value) => ({ value }), (error) => (error.code === 'closed' ? undefined : { error })), gone])
      v.close()
      if (answer) return answer
    }
    await sleep(10)
  }
}

async function ended(run, end = Date.now() + PATIENCE_MS) {
  while (run.child.exitCode === null && run.child.signalCode === null) {
    if (Date.now() > end) return false
    await sleep(5)
  }
  return true
}

/** One run with one failure in it; null when that call did not come so often. */
async function attempt(call, n, { how, walls = {}, limitsMs = 3000 }) {
  const dir = folder(), word = mark(), place = own(folder()), note = `${place}/failed`
  const script = `echo out; echo err >&2; cat; (setsid sleep 9${word} &); echo ran > ${place}/ran; exit 3`
  const spec = k.specText('sh', ['-c', script], { ...walls, stdio: 'stream', 'go-timeout-ms': limitsMs, 'release-timeout-ms': limitsMs, 'wall-ms': limitsMs, 'cpu-seconds': 60, 'file-bytes': 1 << 30 })
  k.writeSpec(dir, spec, { uid: uid === process.getuid() ? 0 : uid })
  const started = k.start(faulty, dir, { uid: uid === process.getuid() ? 0 : uid, env: { KEEPER_FAIL: `${call}:${n}:${how}`, KEEPER_FAIL_NOTE: note } })
  const run = { dir, place, word, ...started, line: await started.line }
  run.waited = null
  run.input = null
  if (run.line.startsWith('ready ')) {
    await patiently(run, (v) => v.request('go'))
    run.input = await patiently(run, (v) => v.input('a', 'in\n'))
    await patiently(run, (v) => v.request('closeInput'))
    run.waited = (await patiently(run, (v) => v.request('wait')))?.value ?? null
    await patiently(run, (v) => v.request('finish'))
  }
  run.hung = !(await ended(run))
  if (run.hung) run.child.kill('SIGKILL')
  run.reached = existsSync(note)
  run.guarantees = existsSync(k.join(dir, 'guarantees')) ? JSON.parse(read(k.join(dir, 'guarantees'))) : []
  await until('nothing of the tree is left', () => alive(`9${word}`).length === 0, PATIENCE_MS)
  return run
}

const read = (path) => (existsSync(path) ? readFileSync(path, 'latin1') : null)
const reasons = /^(spec|env|path|guarantee|setup|front|exec|disk|stream|limit):|^(killed|go-timeout|terminated|finished|keeper-terminated|tree-lost|dir-gone)$/

/** What may be said about it afterwards: `exit` never claims what was not, and nothing is missing without a reason. */
function judge(run) {
  const exit = k.exitRecord(run.dir)
  const out = read(k.join(run.dir, 'stdout')) ?? ''
  const ran = existsSync(`${run.place}/ran`)
  assert.equal(run.hung, false, 'it hangs')
  assert.match(run.line, /^$|^refused \S|^ready \d/)
  if (run.line.startsWith('refused')) {
    assert.equal(ran, false, 'refused, but it ran')
    assert.equal(run.child.exitCode, 125)
    if (exit) assert.deepEqual([exit.code, exit.signal, `refused ${exit.reason}`, exit.startedAtMs], [null, null, run.line, null])
  }
  if (run.line === '') assert.equal(ran, false, 'nothing was said, but it ran')
  assert.ok(OUT.startsWith(out), `not what it wrote: ${out}`)
  if (!exit) {
    assert.notEqual(run.child.exitCode, 0, 'left in peace without a record')
    assert.equal(run.waited, null, 'told an end that is not on disk')
    return
  }
  if (run.waited) assert.deepEqual(run.waited, exit)
  if (exit.reason !== null) assert.match(exit.reason, reasons)
  if (exit.code === 3) assert.ok(ran, 'told an exit code of a program that did not get there')
  else assert.ok(exit.reason !== null || exit.signal !== null || exit.code !== null, 'an end without a reason')
  // Input that was refused is told so to who asked.
  const whole = run.input?.value?.state === 'written' ? OUT : out === 'out\n' ? out : OUT
  if (exit.reason === null && exit.code === 3) assert.deepEqual([out, exit.stdoutBytes, exit.stderrBytes], [whole, whole.length, 4])
  assert.equal(exit.stdoutBytes, out.length, 'counts what is not there')
  const input = journalState(run.dir, 'a').state
  if (out === OUT) assert.notEqual(input, 'unwritten', 'says of input that was read that it was never written')
  if (run.input?.value?.state === 'written') assert.equal(input, 'written')
}

function unnoticed(run) {
  judge(run)
  const { code, reason } = k.exitRecord(run.dir) ?? {}
  assert.deepEqual([code, reason, read(k.join(run.dir, 'stdout'))], [3, null, OUT])
}

async function all(call, check, options) {
  let n = 0
  for (;;) {
    const run = await attempt(call, ++n, options)
    try {
      check(run)
    } catch (error) {
      const exit = k.exitRecord(run.dir)
      throw new Error(`call ${n}: ${error.message}\n${JSON.stringify({ line: run.line, exit, keeper: [run.child.exitCode, run.child.signalCode], waited: run.waited, input: run.input })}`, { cause: error })
    }
    rmSync(run.dir, { recursive: true, force: true })
    rmSync(run.place, { recursive: true, force: true })
    if (!run.reached) return n - 1
    assert.ok(n < 400, 'it comes without end')
  }
}

describe('each call that fails', { concurrency: 4 }, () => {
  for (const [call, hows] of Object.entries(failing))
    for (const how of hows) it(`${call}: refused or ended, never a hang or an untrue record`, async () => void (await all(call, judge, { how })))
})

describe('each call that fails while walls are built', { concurrency: 4 }, () => {
  const required = ['files', 'processes', 'signals']
  for (const [call, how] of Object.entries(building))
    it(`${call}: a required guarantee is held or nothing runs`, async () => {
      const place = own(folder())
      const confinement = { files: [['rox', '/usr'], ['rox', '/lib'], ['rox', '/lib64'], ['rox', '/bin'], ['rw', '/dev/null'], ['rwx', root]], readonly: [place] }
      const check = (run) => {
        judge(run)
        if (existsSync(`${run.place}/ran`)) assert.deepEqual(run.guarantees.flatMap((g) => (required.includes(g.guarantee) && !g.held ? [g] : [])), [])
      }
      await all(call, check, { how, walls: { confinement, extra: required.map((name) => `required ${name}`) } })
    })
})

describe('each call that is interrupted or does less than asked', { concurrency: 4 }, () => {
  for (const [call, hows] of Object.entries(harmless))
    for (const how of hows)
      it(`${call} ${how === EINTR ? 'interrupted' : how}: nothing is seen of it`, async () =>
        // Here no limit may be what ends it, however slow the machine is.
        void (await all(call, unnoticed, { how, limitsMs: 4 * PATIENCE_MS })))
})

describe('when the wall clock jumps', { concurrency: 4 }, () => {
  const day = 86400_000
  for (const [direction, by] of [['a day ahead', day], ['a day back', -day]]) {
    it(`${direction}: no limit comes early`, async () => {
      const run = await running('sh', ['-c', 'sleep 0.5; exit 3'], { keeper: faulty, keeperVariables: { KEEPER_CLOCK_JUMP: `100:${by}` }, 'wall-ms': 60000, 'go-timeout-ms': 60000, 'release-timeout-ms': 60000 })
      await run.v.request('wait')
      await sleep(50)
      assert.deepEqual(outcome((await finished(run)).exit), { code: 3, signal: null, limit: null, reason: null })
    })

    it(`${direction}: every limit still comes`, async () => {
      const run = await running('sleep', ['1000'], { keeper: faulty, keeperVariables: { KEEPER_CLOCK_JUMP: `100:${by}` }, 'wall-ms': 400, 'release-timeout-ms': 300 })
      assert.deepEqual(outcome(await run.v.request('wait')), { code: null, signal: 'SIGKILL', limit: 'wall', reason: 'limit:wall' })
      assert.deepEqual(await run.child.ended, { code: 0, signal: null })
    })
  }
})
