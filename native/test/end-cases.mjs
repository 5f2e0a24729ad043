// How runs end, and that nothing of them is left.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { alive, asRoot, binary, faulty, finished, folder, k, keeperEnv, launch, mark, outcome, own, portable, root, rootOnly, running, setsid, shell, sleep, uid, until } from './bench-run.mjs'

const walls = (extra = {}) => ({ confinement: { files: [['rox', '/usr'], ['rox', '/lib'], ['rox', '/lib64'], ['rox', '/bin'], ['ro', '/etc'], ['ro', '/proc'], ['rw', '/dev/null']], ...extra } })
/** A tree that ignores TERM, has own sessions and orphans; every member has `word` in its command line. */
const stubborn = (word) => `trap "" TERM HUP INT; (trap "" TERM; ${setsid} sh -c 'trap "" TERM; (${setsid} sleep 9${word} &) ; sleep 8${word}' & ) ; ${setsid} sleep 7${word} & echo up; sleep 6${word}`
const ended = (reason, more = {}) => ({ code: null, signal: 'SIGKILL', limit: null, reason, ...more })

async function stubbornRun(word, options) {
  const run = await running('sh', ['-c', stubborn(word)], options)
  await until('the tree stands', () => [6, 7, 8, 9].every((n) => alive(`sleep\0${n}${word}`).length > 0))
  return run
}

for (const [place, options] of portable ? [['local', {}]] : [['local', {}], ['confined', walls()]])
  describe(`the end, ${place}`, { concurrency: 3 }, () => {
    it('kill takes a tree that ignores TERM, double-forks and has own sessions', async () => {
      const word = mark()
      const run = await stubbornRun(word, options)
      await run.v.request('terminate')
      await sleep(50)
      assert.ok(alive(word).length >= 4)
      await run.v.request('kill')
      assert.deepEqual(alive(word), [])
      assert.deepEqual(outcome((await finished(run)).exit), ended('killed'))
    })

    it('a killed keeper takes its tree along', async () => {
      const word = mark()
      const run = await stubbornRun(word, options)
      process.kill(run.child.pid, 'SIGKILL')
      await until('nothing is left', () => alive(word).length === 0)
      assert.equal(k.exitRecord(run.dir), null)
    })

    it('a killed inner process takes the tree along, and it is said', async () => {
      const word = mark()
      const run = await stubbornRun(word, options)
      const inner = readFileSync(`/proc/${run.child.pid}/task/${run.child.pid}/children`, 'utf8').trim().split(' ')
      process.kill(Number(inner[0]), 'SIGKILL')
      const exit = await run.v.request('wait')
      assert.deepEqual([alive(word), outcome(exit)], [[], ended('tree-lost')])
      await finished(run)
    })

    it('what a program leaves behind, holding its pipes, is ended with it', async () => {
      const word = mark()
      const run = await running('sh', ['-c', `${setsid} sleep 9${word} & sleep 0.2; echo done`], options)
      const { exit, stdout } = await finished(run)
      assert.deepEqual([outcome(exit), stdout, alive(word)], [{ code: 0, signal: null, limit: null, reason: null }, 'done\n', []])
    })

    it('terminate asks and signals arrive', async () => {
      const run = await running('sh', ['-c', 'trap "echo usr" USR1; trap "exit 7" TERM; echo up; while :; do sleep 0.02; done'], options)
      await until('up', () => run.v.bytes('stdout').includes('up'))
      await run.v.signal('SIGUSR1')
      await until('usr', () => run.v.bytes('stdout').includes('usr'))
      await assert.rejects(run.v.signal('SIGKILL'), { code: 'bad-signal' })
      await run.v.request('terminate')
      assert.equal((await finished(run)).exit.code, 7)
    })

    it('the wall limit ends it without any view', async () => {
      const word = mark()
      const run = await running('sh', ['-c', stubborn(word)], { ...options, 'wall-ms': 400 })
      run.v.socket.destroy()
      const exit = await until('exit record', () => k.exitRecord(run.dir))
      assert.deepEqual(outcome(exit), ended('limit:wall', { limit: 'wall' }))
      await until('nothing is left', () => alive(word).length === 0) // the record comes first
      process.kill(run.child.pid, 'SIGTERM')
      await run.child.ended
    })

    it('cpu and file limits end it', async () => {
      const busy = await shell('while :; do :; done', { ...options, 'cpu-seconds': 1 })
      assert.deepEqual([busy.exit.limit, busy.exit.reason], ['cpu', 'limit:cpu'])
      if (!portable) assert.equal((await shell('while :; do (i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done); done', { ...options, 'cpu-seconds': 1 })).exit.limit, 'cpu')
      if (place === 'confined') return
      const file = folder()
      const large = await shell('exec head -c 5000000 /dev/zero > big', { ...options, cwd: file, 'file-bytes': 1_000_000 })
      assert.deepEqual([large.exit.limit, large.exit.signal], ['file', 'SIGXFSZ'])
    })

    if (!portable) it('memory and process limits end it, and it is said which', async () => {
      const eater = await running('python3', ['-c', 'import time\nx=bytearray(400<<20)\ntime.sleep(3)'], { ...options, 'memory-bytes': 64 << 20 })
      const groups = JSON.parse(readFileSync(k.join(eater.dir, 'status'), 'utf8')).cgroups
      assert.equal(groups.length, asRoot ? 1 : 0)
      const eat = await finished(eater)
      assert.deepEqual([eat.exit.limit, eat.exit.reason, eat.exit.signal], ['memory', 'limit:memory', 'SIGKILL'])
      const fork = await finished(await running('python3', ['-c', 'import os,time\nfor i in range(40):\n  if os.fork()==0: time.sleep(5); os._exit(0)\ntime.sleep(3)'], { ...options, 'max-processes': 20 }))
      assert.notEqual(fork.exit.code, 0)
      if (asRoot) assert.equal(fork.exit.limit, 'processes')
      assert.deepEqual(groups.filter((path) => existsSync(path)), [])
    })
  })

describe('before the start', { concurrency: 4 }, () => {
  it('nothing runs without go; after its time the keeper leaves', async () => {
    const place = own(folder())
    const run = await launch('sh', ['-c', `touch ${place}/ran`], { 'go-timeout-ms': 200 })
    assert.match(run.line, /^ready \d+ \d+ [0-9a-f-]{36}$/)
    assert.deepEqual(await run.child.ended, { code: 124, signal: null })
    assert.deepEqual([existsSync(`${place}/ran`), outcome(k.exitRecord(run.dir)), k.exitRecord(run.dir).startedAtMs], [false, { code: null, signal: null, limit: null, reason: 'go-timeout' }, null])
  })

  it('a keeper killed before go starts nothing', async () => {
    const place = own(folder())
    const word = mark()
    const run = await launch('sh', ['-c', `touch ${place}/ran; sleep 9${word}`])
    process.kill(run.child.pid, 'SIGKILL')
    await sleep(100)
    assert.deepEqual([existsSync(`${place}/ran`), alive(word)], [false, []])
  })

  it('go is idempotent; status and identity say the same; finish before go ends it', async () => {
    const run = await running('sleep', ['60'])
    await run.v.request('go')
    const status = JSON.parse(readFileSync(k.join(run.dir, 'status'), 'utf8'))
    const { pid, startTicks, bootId } = await run.v.hello
    assert.equal(run.line, `ready ${status.pid} ${status.startTicks} ${status.bootId}`)
    assert.deepEqual([status.pid, status.startTicks, status.bootId], [pid, startTicks, bootId])
    assert.equal(pid, run.child.pid)
    await assert.rejects(run.v.request('finish'), { code: 'running' })
    await run.v.request('kill')
    await finished(run)
    const other = await launch('true')
    const v = await k.view(other.dir)
    await v.request('finish')
    await other.child.ended
    assert.equal(k.exitRecord(other.dir).reason, 'finished')
  })

  it('a program that cannot be executed is told with its reason', async () => {
    for (const [command, reason] of [['no-such-program-here', 'exec:ENOENT'], ['/etc/passwd', 'exec:EACCES']]) {
      const run = await launch(command)
      const v = await k.view(run.dir)
      await assert.rejects(v.request('go'), { code: 'exec' })
      assert.deepEqual(outcome(await v.request('wait')), { code: null, signal: null, limit: null, reason })
      await v.request('finish')
    }
  })

  it('refuses a spec it does not understand, by name', async () => {
    const good = k.specText('true', [])
    const confined = k.specText('true', [], walls())
    const cases = {
      [good + 'surprise 1\n']: 'spec:unknown key surprise',
      [good + 'cwd /\n']: 'spec:repeated key cwd',
      [good.replace('version 1\n', '')]: 'spec:version must be the first line, once: command',
      [good.replace('output-bytes 1073741824\n', '')]: 'spec:missing key output-bytes',
      [good + 'arg a%0\n']: 'spec:bad escape or byte in arg',
      [good + 'arg a%00\n']: 'spec:bad escape or byte in arg',
      [good + 'file rw /\n']: 'spec:key does not fit here: file',
      [good.trimEnd()]: 'spec:last line is not ended',
      [confined.replace('processes 1\n', '')]: 'spec:missing key processes',
      [confined + 'file rz /\n']: 'spec:not a known value of file',
      [confined + 'file rw /no/such/place\n']: 'path:/no/such/place',
      [good.replace('cwd /', 'cwd /no/such/place')]: 'path:/no/such/place',
    }
    for (const [text, reason] of Object.entries(cases)) {
      const dir = folder()
      k.writeSpec(dir, text, { uid: uid === process.getuid() ? 0 : uid })
      const run = k.start(binary, dir, { uid, env: keeperEnv })
      assert.equal(await run.line, `refused ${reason}`)
      assert.deepEqual(await run.child.ended, { code: 125, signal: null })
      assert.equal(k.exitRecord(dir).reason, reason)
      assert.equal(existsSync(k.join(dir, 'env')), false)
    }
  })

  it('refuses words on its command line that it does not know', () => {
    for (const words of [[], ['run'], ['run', '--dir', '/tmp', '--no-unix'], ['jump'], ['attach', '/tmp', '--from', '-1']])
      assert.throws(() => execFileSync(binary, words, { stdio: 'pipe' }), { status: 64 })
  })
})

describe('when the ground goes', { concurrency: 4 }, () => {
  it('its folder removed: the tree ends', async () => {
    const word = mark()
    const run = await stubbornRun(word)
    rmSync(run.dir, { recursive: true })
    await until('nothing is left', () => alive(word).length === 0)
    assert.deepEqual(await run.child.ended, { code: 126, signal: null })
    assert.equal(run.v.lastWord.code, 'dir-gone')
  })

  it('SIGTERM to the keeper ends the tree and records it; SIGHUP and SIGINT do nothing', async () => {
    const word = mark()
    const run = await stubbornRun(word)
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGQUIT']) process.kill(run.child.pid, signal)
    await sleep(50)
    assert.equal((await run.v.request('status')).state, 'running')
    process.kill(run.child.pid, 'SIGTERM')
    await run.child.ended
    assert.deepEqual([alive(word), outcome(k.exitRecord(run.dir))], [[], ended('keeper-terminated')])
  })

  rootOnly('a full disk ends the tree, says why, and the exit record is there', async () => {
    const place = `${root}/small`
    k.mkdirSync(place)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', place])
    try {
      const dir = k.makeDir(place)
      k.writeSpec(dir, k.specText('sh', ['-c', `yes`]))
      const started = k.start(binary, dir, { env: keeperEnv })
      await started.line
      const v = await k.view(dir)
      await v.request('go')
      const exit = await v.request('wait')
      assert.deepEqual([exit.reason, v.lastWord.code, k.exitRecord(dir).reason], ['disk:ENOSPC', 'disk', 'disk:ENOSPC'])
      await v.request('finish')
      await started.child.ended
    } finally {
      execFileSync('umount', [place])
    }
  })

  for (const point of ['program-ended', 'exit-written', 'exit-final'])
    it(`the keeper killed at ${point}: the record is whole or not there, nothing is left`, async () => {
      const word = mark()
      const run = await running('sh', ['-c', `${setsid} sleep 9${word} & echo x; exit 4`], { keeper: faulty, keeperVariables: { KEEPER_FAULT: point } }).catch(() => null)
      if (run) {
        await run.child.ended
        const record = k.exitRecord(run.dir)
        if (point === 'exit-final') assert.equal(record.code, 4)
        else assert.ok(record === null || record.code === 4)
      }
      await until('nothing is left', () => alive(word).length === 0)
      writeFileSync(`${root}/seen`, '')
    })
})
