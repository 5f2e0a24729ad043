// What a node does that can only run commands here: look, fetch, put, settle, reach, relay.
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { alive, binary, finished, folder, k, keeperEnv, launch, mark, own, root, running, uid, until } from './bench-run.mjs'

const as = uid === process.getuid() ? {} : { uid, gid: uid }
/** A command as the user of the run: what it wrote, and its exit code. */
function command(words, input) {
  const done = spawnSync(binary, words, { input, env: keeperEnv, maxBuffer: 1 << 30, ...as })
  return { code: done.status, out: done.stdout, err: done.stderr.toString() }
}
const ok = (words, input) => {
  const done = command(words, input)
  assert.equal(`${done.code} ${done.err}`, '0 ')
  return done.out
}
const fails = (words, [code, word], input) => {
  const done = command(words, input)
  assert.deepEqual([done.code, done.err.split('\n').length, done.err.split(': ')[1]], [code, 2, word], done.err)
}
const place = () => own(mkdtempSync(`${root}/remote-`))
/** A run's folder in one of its user's own, who can take it away. */
const removable = () => k.makeDir(place(), uid === process.getuid() ? 0 : uid)
const look = (dir) => JSON.parse(ok(['look', dir]).toString())
const walls = { confinement: { files: [['rox', '/usr'], ['rox', '/lib'], ['rox', '/lib64'], ['rox', '/bin'], ['ro', '/etc'], ['ro', '/proc'], ['rw', '/dev/null']] } }
const server = (body) => ['-c', `import socket\ns=socket.socket()\ns.setsockopt(socket.SOL_SOCKET,socket.SO_REUSEADDR,1)\ns.bind(("127.0.0.1",0))\ns.listen()\nprint(s.getsockname()[1],flush=True)\n${body}`]
const echo = 'while True:\n  c,_=s.accept()\n  n=b""\n  while True:\n    d=c.recv(65536)\n    if not d: break\n    n+=d\n  c.sendall(b"got "+n); c.close()'
const portOf = async (run) => Number(await until('its port', () => /^\d+\n/.exec(run.v.bytes('stdout').toString())?.[0].trim()))

describe('look, spool, settle', { concurrency: 3 }, () => {
  it('tells a run that lives, one that ended, one whose keeper was killed, and none', async () => {
    assert.deepEqual(look(`${root}/nowhere`), { missing: true })
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const nothing = { identity: null, alive: false, exit: null, stdoutBytes: 0, stderrBytes: 0, stdoutReleased: 0, stderrReleased: 0, bootId }
    assert.deepEqual(look(folder()), nothing)
    const run = await running('sh', ['-c', 'echo hello; echo no >&2; read x; exit 3'], { stdio: 'stream' })
    const { pid, startTicks } = await run.v.hello
    await until('both', () => run.v.bytes('stdout').length === 6 && run.v.bytes('stderr').length === 3)
    await run.v.release('stdout', 6)
    const living = { ...nothing, identity: { pid, startTicks, bootId }, alive: true, stdoutBytes: 6, stderrBytes: 3, stdoutReleased: 6 }
    assert.deepEqual(look(run.dir), living)
    await run.v.request('closeInput')
    const { exit } = await finished(run)
    assert.deepEqual(look(run.dir), { ...living, alive: false, exit })
    const killed = await running('sleep', ['60'])
    process.kill(killed.child.pid, 'SIGKILL')
    await killed.child.ended
    assert.deepEqual([look(killed.dir).alive, look(killed.dir).exit, look(killed.dir).identity.pid], [false, null, killed.child.pid])
  })

  it('gives the bytes of a stream from any offset that was not released, of a dead keeper too', async () => {
    const run = await running('sh', ['-c', 'printf 0123456789; printf err >&2'])
    await run.v.request('wait')
    await run.v.release('stdout', 10)
    assert.equal(ok(['spool', run.dir, 'stderr', '--from', '1']).toString(), 'rr')
    assert.equal(ok(['spool', run.dir, 'stdout', '--from', '10']).toString(), '')
    fails(['spool', run.dir, 'stdout', '--from', '9'], [4, 'trimmed'])
    fails(['spool', run.dir, 'stderr', '--from', '4'], [5, 'range'])
    fails(['spool', `${root}/nowhere`, 'stdout'], [3, 'missing'])
    fails(['spool', run.dir, 'stdin'], [64, 'usage'])
    await finished(run)
    assert.equal(ok(['spool', run.dir, 'stderr']).toString(), 'err')
  })

  it('settles whatever state a run is in, once and again, and leaves nothing', async () => {
    const word = mark()
    const stubborn = ['-c', `trap "" TERM; (setsid sleep 9${word} &); sleep 8${word}`]
    const states = {
      running: await running('sh', stubborn, { dir: removable() }),
      confined: await running('sh', stubborn, { ...walls, dir: removable() }),
      waiting: await launch('sleep', [`7${word}`], { dir: removable() }),
      ended: await running('true', [], { dir: removable() }),
      killed: await running('sleep', ['60'], { dir: removable() }),
      stopped: await running('sh', stubborn, { dir: removable() }),
    }
    await states.ended.v.request('wait')
    process.kill(states.killed.child.pid, 'SIGKILL')
    await states.killed.child.ended
    states.stopped.v.socket.destroy()
    for (const [state, run] of Object.entries(states)) {
      if (state === 'stopped') process.kill(run.child.pid, 'SIGSTOP')
      ok(['settle', run.dir])
      assert.equal(existsSync(run.dir), false, state)
      ok(['settle', run.dir])
    }
    await until('nothing is left', () => alive(word).length === 0)
  })

  it('settles no folder that holds what is not a run\'s, and touches nothing in it', async () => {
    const run = await running('sleep', ['60'])
    writeFileSync(own((writeFileSync(`${run.dir}/notes`, ''), `${run.dir}/notes`)), 'mine')
    fails(['settle', run.dir], [9, 'not-empty'])
    assert.equal(look(run.dir).alive, true)
    await run.v.request('kill')
    await run.v.request('finish')
  })

  it('sweeps all runs below a folder, named one per line; what is none stays', async () => {
    const all = place()
    const dirs = ['a', 'b'].map((name) => own((mkdirSync(`${all}/${name}`), `${all}/${name}`)))
    const runs = []
    for (const dir of dirs) runs.push(await running('sleep', ['60'], { dir }))
    writeFileSync(`${all}/file`, '')
    mkdirSync(`${all}/other/deep`, { recursive: true })
    const swept = command(['sweep', all])
    assert.deepEqual([swept.code, swept.out.toString().trim().split('\n').sort(), readdirSync(all).sort()], [9, ['a', 'b'], ['file', 'other']])
    for (const run of runs) await run.child.ended
    assert.equal(ok(['sweep', `${root}/nowhere`]).toString(), '')
  })
})

describe('put and take', { concurrency: 3 }, () => {
  it('writes a file whole, with its mode, and makes parents; a link is replaced, not followed', () => {
    const dir = place()
    writeFileSync(`${dir}/victim`, 'old')
    symlinkSync('victim', `${dir}/link`)
    ok(['put', `${dir}/link`, '--mode', '0750', '--sync'], Buffer.from('new\0bytes'))
    assert.deepEqual([readFileSync(`${dir}/victim`, 'utf8'), readFileSync(`${dir}/link`, 'latin1'), statSync(`${dir}/link`).mode & 0o7777, lstatSync(`${dir}/link`).isFile()], ['old', 'new\0bytes', 0o750, true])
    ok(['put', `${dir}/x/y/z`, '--mode', '600', '--make-parents', '700'], '')
    assert.deepEqual([statSync(`${dir}/x/y`).mode & 0o7777, statSync(`${dir}/x/y/z`).size], [0o700, 0])
    assert.deepEqual(readdirSync(dir).sort(), ['link', 'victim', 'x'])
  })

  it('leaves what was there when stdin is cut short, the folder is missing or the place is a folder', () => {
    const dir = place()
    writeFileSync(`${dir}/file`, 'old')
    fails(['put', `${dir}/file`, '--mode', '600', '--size', '5'], [8, 'bad-stream'], 'four')
    fails(['put', `${dir}/none/file`, '--mode', '600'], [3, 'missing'], '')
    own((mkdirSync(`${dir}/folder`), `${dir}/folder`))
    fails(['put', `${dir}/folder`, '--mode', '600'], [1, 'EISDIR'], '')
    fails(['put', `${dir}/file`, '--mode', '8'], [64, 'usage'], '')
    assert.deepEqual([readFileSync(`${dir}/file`, 'utf8'), readdirSync(dir).sort()], ['old', ['file', 'folder']])
  })

  it('takes a file to the byte, within a limit, and follows no link unasked', () => {
    const dir = place()
    const bytes = Buffer.alloc(300_000, 'abc\0')
    writeFileSync(`${dir}/file`, bytes)
    symlinkSync('file', `${dir}/link`)
    assert.ok(ok(['take', `${dir}/file`, '--limit', '300000']).equals(bytes))
    assert.ok(ok(['take', `${dir}/link`, '--follow']).equals(bytes))
    fails(['take', `${dir}/file`, '--limit', '299999'], [5, 'limit'])
    fails(['take', `${dir}/link`], [1, 'ELOOP'])
    fails(['take', dir], [1, 'not-a-file'])
    fails(['take', `${dir}/none`], [3, 'missing'])
  })
})

describe('reach', { concurrency: 2 }, () => {
  for (const [name, options] of [['local', {}], ['confined', walls]])
    it(`connects to a listener of the run, ${name}; half-close passes; every refusal is told`, async () => {
      const run = await running('python3', server(echo), options)
      const port = await portOf(run)
      const large = Buffer.alloc(1 << 20, 'x')
      assert.ok(ok(['reach', run.dir, String(port)], large).equals(Buffer.concat([Buffer.from('got '), large])))
      const several = await Promise.all([1, 2, 3].map((n) => new Promise((resolve) => {
        const child = spawn(binary, ['reach', run.dir, String(port)], { env: keeperEnv, stdio: ['pipe', 'pipe', 'inherit'], ...as })
        let text = ''
        child.stdout.on('data', (d) => (text += d)).on('close', () => resolve(text))
        child.stdin.end(`${n}`)
      })))
      assert.deepEqual(several, ['got 1', 'got 2', 'got 3'])
      fails(['reach', run.dir, '1'], [7, 'no-listener'])
      // From outside there is no such listener where the run has a network of its own.
      const outside = await new Promise((resolve) => connect(port, '127.0.0.1').on('connect', function () { this.destroy(), resolve('open') }).on('error', (e) => resolve(e.code)))
      assert.equal(outside, name === 'local' ? 'open' : 'ECONNREFUSED')
      await run.v.request('kill')
      fails(['reach', run.dir, String(port)], [6, 'not-running'])
      await run.v.request('finish')
      await run.child.ended
      fails(['reach', run.dir, String(port)], [6, 'not-running'])
    })

  it('turns a view that asked for nothing else into a pipe; a view that is refused goes on', async () => {
    const run = await running('python3', server(echo))
    const port = await portOf(run)
    const v = await k.view(run.dir)
    await assert.rejects(v.reach(1), { code: 'no-listener' })
    assert.equal((await v.request('status')).state, 'running')
    await v.reach(port)
    const bytes = []
    v.socket.removeAllListeners('data')
    v.socket.on('data', (d) => bytes.push(d))
    v.socket.end('hi')
    await v.done
    assert.equal(Buffer.concat(bytes).toString(), 'got hi')
    await assert.rejects(run.v.reach(port), { code: 'in-use' })
    await run.v.request('kill')
    await finished(run)
  })

  it('carries the last words of a program that ends', async () => {
    const run = await running('python3', server('c,_=s.accept()\nc.sendall(b"z"*3000000)'))
    const port = await portOf(run)
    const got = ok(['reach', run.dir, String(port)], '')
    assert.ok(got.length > 0)
    await finished(run)
  })
})

describe('detached, as through docker exec and ssh', () => {
  it('with closed standard streams, no terminal, and a hangup when the exec ends, the keeper stays', async () => {
    const dir = removable()
    k.writeSpec(dir, k.specText('sh', ['-c', 'sleep 0.3; echo still here']), { uid: uid === process.getuid() ? 0 : uid })
    // A session with a terminal that goes away right after the line: what `ssh -t` does.
    const script = `import os,pty,sys\npid,fd=pty.fork()\nif pid==0:\n  os.close(0); os.close(2)\n  r,w=os.pipe()\n  os.execv(sys.argv[1],[sys.argv[1],"run","--dir",sys.argv[2],"--detach"])\nt=b""\ntry:\n  while b"\\n" not in t: t+=os.read(fd,999)\nexcept OSError: pass\nos.close(fd)\nos.waitpid(pid,0)\nprint(t.decode())`
    const line = execFileSync('python3', ['-c', script, binary, dir], { env: { ...keeperEnv, PATH: process.env.PATH }, ...as }).toString()
    assert.match(line, /^ready \d+ \d+ /)
    const v = await k.view(dir)
    await v.attach('stdout')
    await v.request('go')
    await v.request('wait')
    await v.ended('stdout')
    assert.equal(v.bytes('stdout').toString(), 'still here\n')
    ok(['settle', dir])
  })
})
