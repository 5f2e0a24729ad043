// What depends on the kernel, on one where this is not the machine's own (vm/boot.sh): cgroup version 2, and walls of an older Landlock.
// KEEPER_CGROUP says where the keeper's group can be: below its own (own), beside it (beside), or nowhere (none). KEEPER_CASES: local leaves the walls out, confined the rest.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, it } from 'node:test'
import { attempts, harmless, held, system } from './escape-bench.mjs'
import { alive, binary, finished, k, launch, mark, outcome, own, root, running, shell, until } from './bench-run.mjs'

const cases = process.env.KEEPER_CASES ?? 'all'
const where = process.env.KEEPER_CGROUP
const mine = `/sys/fs/cgroup${readFileSync('/proc/self/cgroup', 'utf8').trim().split('::')[1]}`.replace(/\/$/, '')
const parent = { own: mine, beside: dirname(mine) }[where]
const grouped = parent !== undefined
const groups = (run) => JSON.parse(readFileSync(k.join(run.dir, 'status'), 'utf8')).cgroups
const report = (run, name) => JSON.parse(readFileSync(k.join(run.dir, 'guarantees'), 'utf8')).find((g) => g.guarantee === name)
const left = () => (grouped ? readdirSync(parent).filter((name) => name.startsWith('orrery-')) : [])
const ended = (limit) => ({ code: null, signal: 'SIGKILL', limit, reason: `limit:${limit}` })
const python = (script, options) => running('python3', ['-c', script], options)
const hog = 'x=[]\nwhile True: x.append(bytearray(8<<20))'
const bomb = 'import os,time\nn=0\nwhile n<300:\n  try:\n    if os.fork()==0: time.sleep(600)\n    n+=1\n  except BlockingIOError: break\nprint(n,flush=True)\nraise SystemExit(3)'

for (const [place, options] of Object.entries({ local: {}, confined: { confinement: { files: system } } }).filter(([place]) => cases === 'all' || cases === place))
  describe(`limits, ${place}`, () => {
    const bounds = { ...options, 'memory-bytes': 64 << 20, 'max-processes': 20 }

    it('one group holds both bounds where one may be made, and what holds them is said', async () => {
      const run = await running('sleep', ['0.1'], bounds)
      const limits = report(run, 'limits')
      assert.deepEqual([groups(run).map(dirname), limits.by.includes('cgroup'), /looks every 250 ms/.test(limits.by), limits.missing !== null], grouped ? [[parent], true, false, false] : [[], false, true, true])
      if (grouped) assert.deepEqual(['memory.max', 'pids.max'].map((name) => readFileSync(`${groups(run)[0]}/${name}`, 'utf8').trim()), [String(64 << 20), '20'])
      assert.deepEqual(outcome((await finished(run)).exit), { code: 0, signal: null, limit: null, reason: null })
      assert.deepEqual(left(), [])
    })

    it('memory: the kernel ends it at its bound, and it is said', async () => {
      const run = await python(hog, { ...bounds, 'memory-bytes': 96 << 20 })
      const { exit } = await finished(run)
      assert.deepEqual(outcome(exit), ended('memory'))
      if (grouped) assert.ok(exit.maxRssBytes < 128 << 20, String(exit.maxRssBytes))
    })

    it('memory: of all processes together', async () => {
      const run = await python(`import os,time\nfor i in range(4):\n  if os.fork()==0:\n    x=bytearray(40<<20)\n    time.sleep(600)\nos.wait()\nraise SystemExit(9)`, { ...options, 'memory-bytes': 96 << 20 })
      assert.equal((await finished(run)).exit.limit, 'memory')
    })

    if (grouped) it('memory: a program that bears the loss of a child and ends well was not limited', async () => {
      const { exit, stdout } = await finished(await running('sh', ['-c', `python3 -c '${hog}'; echo $?; true`], bounds))
      assert.deepEqual([stdout, outcome(exit)], ['137\n', { code: 0, signal: null, limit: null, reason: null }])
    })

    it('processes: refused by the kernel, or ended, and it is said', async () => {
      const { exit, stdout } = await finished(await python(bomb, { ...options, 'max-processes': 20 }))
      if (grouped) assert.deepEqual([outcome(exit), Number(stdout) <= 20], [{ code: 3, signal: null, limit: 'processes', reason: 'limit:processes' }, true])
      else assert.ok(exit.limit === 'processes' || (place === 'confined' && exit.code === 3 && Number(stdout) <= 21), JSON.stringify(exit) + stdout)
    })

    if (cases === 'all') it('cpu: of one process and of many', async () => {
      assert.deepEqual((await shell('while :; do :; done', { ...bounds, 'cpu-seconds': 1 })).exit.limit, 'cpu')
      assert.deepEqual((await shell('while :; do (i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done); done', { ...bounds, 'cpu-seconds': 1 })).exit.limit, 'cpu')
    })

    it('a kill from elsewhere is no limit', async () => {
      const { exit } = await shell('kill -9 $$', bounds)
      assert.deepEqual(outcome(exit), { code: null, signal: 'SIGKILL', limit: null, reason: null })
    })

    it('kill and the death of the keeper leave no process, and no group behind for long', async () => {
      for (const [number, end] of [(run) => run.v.request('kill'), (run) => run.child.kill('SIGKILL')].entries()) {
        const word = mark()
        const run = await running('sh', ['-c', `trap "" TERM; (setsid sh -c 'sleep 7${word} & sleep 7${word}' &); sleep 7${word}`], bounds)
        await until('three sleepers', () => alive(`sleep\0${'7'}${word}`).length === 3)
        await end(run)
        await until('all gone', () => alive(`7${word}`).length === 0)
        if (number === 0) await finished(run)
      }
      await finished(await running('true', [], bounds)) // sweeps what the killed one could not remove
      assert.deepEqual(left(), [])
    })
  })

const abi = JSON.parse(execFileSync(binary, ['probe'], { encoding: 'utf8' })).kernel.landlockAbi
// The first process of the run's own pid namespace, which takes no signal from inside; Landlock's scopes keep even the question from it.
const allowedHere = [...harmless, ...(abi >= 6 ? [] : ['kill-parent'])]
/** What an older Landlock leaves open behind namespaces and mounts. */
const missingFiles = abi >= 5 ? null : abi >= 3 ? 'ioctl on devices is not stopped (Linux 6.10 or newer)' : 'truncating files on mounts made during the run, and ioctl on devices, are not stopped (Linux 6.2 or newer)'

if (cases !== 'local') describe(`walls, Landlock ABI ${abi}`, () => {
  it('no attempt gets out, and what holds is said with what an older kernel does not stop', async () => {
    const { allowed, guarantees, secret } = await attempts({})
    assert.deepEqual([allowed.filter((name) => !allowedHere.includes(name)), secret], [[], 'a secret that nobody reads'])
    assert.deepEqual(held(guarantees), ['files', 'network', 'hosts', 'processes', 'signals', 'limits'])
    assert.deepEqual(guarantees.flatMap((g) => (g.missing ? [[g.guarantee, g.missing]] : [])), missingFiles ? [['files', missingFiles]] : [])
  })

  it('without namespaces of its own: each wall that opens is one that is not held', async () => {
    const { allowed, guarantees } = await attempts({ processes: 0, network: 'host' })
    const open = allowed.filter((name) => !allowedHere.includes(name))
    assert.deepEqual(open.filter((name) => /^(secret|outside|readonly)/.test(name)), [])
    assert.deepEqual(['network', 'hosts', 'processes', 'signals'].filter((name) => held(guarantees).includes(name)), [])
    assert.deepEqual(guarantees.filter((g) => !g.held && !g.missing), [])
  })

  it('the walls of another program: the same is held', { skip: existsSync('/usr/bin/bwrap') ? false : 'bwrap is not installed' }, async () => {
    const work = own(mkdtempSync(`${root}/work-`))
    const wrapper = ['/usr/bin/bwrap', '--unshare-pid', '--unshare-ipc', '--unshare-net', '--as-pid-1', '--die-with-parent', '--cap-drop', 'ALL', '--proc', '/proc', '--dev', '/dev', '--ro-bind', '/proc/sys', '/proc/sys', ...['/proc/sysrq-trigger', '/proc/irq', '/proc/bus', '/proc/fs'].flatMap((path) => ['--ro-bind-try', path, path]), ...['/usr', '/lib', '/lib64', '/bin'].flatMap((path) => ['--ro-bind', path, path]), '--bind', work, work, '--remount-ro', '/dev', '--remount-ro', '/', '--', '/proc/self/fd/100', 'inside']
    const run = await running('sh', ['-c', 'echo in > in; echo out 2>&- > /usr/out'], { cwd: work, confinement: { files: [['rox', '/usr'], ['rox', '/lib'], ['rox', '/lib64'], ['rox', '/bin'], ['rwx', work], ['rw', '/dev/null']], wrapper } })
    const said = JSON.parse(readFileSync(k.join(run.dir, 'guarantees'), 'utf8'))
    await finished(run)
    assert.deepEqual([held(said), existsSync(`${work}/in`), existsSync('/usr/out')], [['files', 'network', 'hosts', 'processes', 'signals', 'limits'], true, false])
  })

  it('what is required and missing is a refusal, never a weaker start', async () => {
    const run = await running('true', [], { confinement: { files: system } })
    const said = JSON.parse(readFileSync(k.join(run.dir, 'guarantees'), 'utf8'))
    await finished(run)
    for (const { guarantee, held: holds } of said) {
      const { line } = await launch('true', [], { confinement: { files: system }, required: guarantee })
      assert.equal(line.split(' ')[0], holds ? 'ready' : 'refused', guarantee)
    }
  })
})
