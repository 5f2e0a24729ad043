// Walls that another program builds: what is there is looked for, what is not there is said, and the run ends as any other.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { describe, it } from 'node:test'
import { alive, asRoot, finished, k, launch, mark, own, root, running, until } from './bench-run.mjs'

const inside = ['--', '/proc/self/fd/100', 'inside']
const system = ['/usr', '/lib', '/lib64', '/bin']
const namespaces = ['--unshare-pid', '--unshare-ipc', '--unshare-net', '--as-pid-1', '--die-with-parent', '--cap-drop', 'ALL', '--proc', '/proc', '--dev', '/dev']
const closedProc = ['--ro-bind', '/proc/sys', '/proc/sys', ...['/proc/sysrq-trigger', '/proc/irq', '/proc/bus', '/proc/fs'].flatMap((path) => ['--ro-bind-try', path, path])]
const bwrap = '/usr/bin/bwrap'
const withBubblewrap = (name, run) => it(name, { skip: existsSync(bwrap) ? false : 'bwrap is not installed: its walls are not tried' }, run)
const place = () => own(mkdtempSync(`${root}/work-`))
const wrapped = (work, { closed = [], less = [] } = {}) => ({
  cwd: work,
  confinement: {
    files: [...system.map((path) => ['rox', path]), ['rwx', work], ['rw', '/dev/null']],
    readonly: closed,
    wrapper: [bwrap, ...namespaces.filter((word) => !less.includes(word)), ...(less.includes('closedProc') ? [] : closedProc), ...system.flatMap((path) => ['--ro-bind', path, path]), '--bind', work, work, ...closed.flatMap((path) => ['--ro-bind', path, path]), '--remount-ro', '/dev', ...(less.includes('remount') ? [] : ['--remount-ro', '/']), ...inside],
  },
})
const reports = (dir) => Object.fromEntries(JSON.parse(readFileSync(k.join(dir, 'guarantees'), 'utf8')).map((g) => [g.guarantee, g.held || g.missing]))

describe('a wrapper', { concurrency: 2 }, () => {
  it('that builds nothing is seen through: nothing is held, and a required guarantee stops the start', async () => {
    const confinement = { files: [...system.map((path) => ['rox', path]), ['ro', '/proc'], ['rw', '/dev/null']], wrapper: ['/usr/bin/env', ...inside.slice(1)] }
    const run = await running('sh', ['-c', 'echo ran'], { confinement })
    const held = Object.entries(reports(run.dir)).flatMap(([name, is]) => (is === true ? [name] : []))
    assert.deepEqual(held.filter((name) => ['files', 'hosts', 'processes'].includes(name)), [])
    assert.equal((await finished(run)).stdout, 'ran\n')
    assert.equal((await launch('true', [], { confinement, required: 'files' })).line, 'refused guarantee:files')
  })

  it('that is not there, or fails, is a refusal in its own words', async () => {
    const confinement = (...wrapper) => ({ confinement: { files: [['rox', '/usr']], wrapper } })
    assert.equal((await launch('true', [], confinement('/nowhere/bwrap', ...inside))).line, 'refused wrapper:/nowhere/bwrap: ENOENT')
    assert.equal((await launch('true', [], confinement('/bin/sh', '-c', 'echo no luck >&2; echo more >&2; exit 1'))).line, 'refused wrapper:no luck')
    assert.equal((await launch('true', [], confinement('/bin/true'))).line, 'refused wrapper:it ended and said nothing')
  })

  it('does not go with half of the walls', async () => {
    const wrapper = ['/usr/bin/env', ...inside.slice(1)]
    assert.match((await launch('true', [], { confinement: { network: 'host', wrapper } })).line, /^refused spec:network none and processes 1 are needed with wrapper/)
    assert.match((await launch('true', [], { confinement: { processes: 0, wrapper } })).line, /^refused spec:network none/)
    assert.match((await launch('true', [], { confinement: { wrapper: ['bwrap'] } })).line, /^refused spec:not an absolute path: wrapper/)
  })

  withBubblewrap('gives every guarantee; arguments, variables, exit codes and signals pass', async () => {
    const work = place()
    const run = await running('sh', ['-c', 'printf "%s|" "$@" "$X" $$; kill -USR1 $$', 'sh', 'a b', 'ü'], { ...wrapped(work), env: { PATH: '/usr/bin:/bin', X: 'its own' } })
    assert.deepEqual(reports(run.dir), { files: true, network: true, hosts: true, processes: true, signals: true, limits: true })
    const { exit, stdout } = await finished(run)
    assert.deepEqual([stdout, exit.code, exit.signal], ['a b|ü|its own|2|', null, 'SIGUSR1'])
  })

  withBubblewrap('is believed in nothing: each wall that it leaves out is missing', async () => {
    const work = place()
    mkdirSync(`${work}/open`)
    const said = async (change, closed = []) => {
      const options = wrapped(work, change)
      const run = await running('true', [], { ...options, confinement: { ...options.confinement, readonly: closed } })
      await finished(run)
      return reports(run.dir)
    }
    assert.equal((await said({ less: ['remount'] })).files, 'not read-only: /')
    assert.equal((await said({}, [`${work}/open`])).files, `not read-only: ${work}/open`.slice(0, 95))
    assert.equal((await said({}, [`${work}/missing`])).files, `not read-only: ${work}/missing`.slice(0, 95))
    assert.equal((await said({ less: ['--unshare-ipc'] })).processes, "not the run's own: ipc namespace")
    assert.equal((await said({ less: ['--unshare-net'] })).hosts, "no network namespace: any host can be reached on the front's port number")
    if (asRoot) assert.equal((await said({ less: ['closedProc'] })).processes, 'not read-only: /proc/sys')
  })

  withBubblewrap('closed paths cannot be written or replaced inside', async () => {
    const work = place()
    own((mkdirSync(`${work}/closed`), `${work}/closed`))
    const run = await running('sh', ['-c', 'echo x > closed/a; mv closed b; rm -r closed; echo fine > open'], wrapped(work, { closed: [`${work}/closed`] }))
    await finished(run)
    assert.deepEqual([existsSync(`${work}/closed/a`), existsSync(`${work}/b`), readFileSync(`${work}/open`, 'utf8')], [false, false, 'fine\n'])
  })

  for (const [what, end] of [['kill', (run) => run.v.request('kill')], ['the death of the keeper', (run) => run.child.kill('SIGKILL')], ['the death of the wrapper', (run, word) => process.kill(Number(alive('--unshare-pid').find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word))), 'SIGKILL')]])
    withBubblewrap(`${what} takes the whole tree, and the wrapper`, async () => {
      const work = place()
      const word = mark()
      const run = await running('sh', ['-c', `trap "" TERM; (setsid sh -c 'sleep 7${word} & sleep 7${word}' &); sleep 7${word}`], wrapped(work))
      await until('three sleepers', () => alive(`sleep\0${'7'}${word}`).length === 3)
      await end(run, work)
      await until('all gone', () => alive(`7${word}`).length === 0 && alive(work).length === 0)
    })

  withBubblewrap('the front is on the loopback inside, and nothing else is', async () => {
    const work = place()
    const target = `${work}/node.sock`
    const server = createServer((c) => c.on('data', (d) => c.end(`echo ${d}`)))
    await new Promise((resolve) => server.listen(target, resolve))
    own(target)
    const other = createServer()
    await new Promise((resolve) => other.listen(0, '127.0.0.1', resolve))
    const script = `import socket\ns=socket.create_connection(("127.0.0.1",7777))\ns.sendall(b"hi")\nprint(s.recv(9).decode())\ntry: socket.create_connection(("127.0.0.1",${other.address().port}))\nexcept OSError as e: print(e.errno)`
    const { stdout } = await finished(await running('python3', ['-c', script], { ...wrapped(work), 'front-port': 7777, 'front-target': target, 'front-hold-ms': 1, 'front-hold-max': 1 }))
    server.close()
    other.close()
    assert.equal(stdout, 'echo hi\n111\n')
  })

  withBubblewrap('descriptors of the keeper and the handover are not the program\'s', async () => {
    const work = place()
    writeFileSync(`${work}/x`, '')
    const { stdout } = await finished(await running('ls', ['-l', '/proc/self/fd'], { ...wrapped(work), confinement: { ...wrapped(work).confinement, files: [...wrapped(work).confinement.files, ['ro', '/proc']] } }))
    const left = [...stdout.matchAll(/ (\d+) -> (\S+)/g)].map(([, fd]) => Number(fd))
    assert.deepEqual(left, [0, 1, 2, 3]) // 3: the folder that ls reads
  })
})
