// Streams, views and their ends.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { describe, it } from 'node:test'
import { binary, blocks, finished, folder, k, launch, outcome, portable, running, shell, sleep, until } from './bench-run.mjs'

const went = { code: 0, signal: null, limit: null, reason: null }

describe('streams', { concurrency: 3 }, () => {
  it('keeps stdout and stderr apart, as real pipes, and tells the exit code', async () => {
    const { exit, stdout, stderr, keeper } = await shell('echo out; echo err > /dev/stderr; echo more > /dev/stdout; cat /dev/stdin; exit 3')
    assert.deepEqual({ ...outcome(exit), stdout, stderr, keeper }, { code: 3, signal: null, limit: null, reason: null, stdout: 'out\nmore\n', stderr: 'err\n', keeper: { code: 0, signal: null } })
    assert.deepEqual([exit.stdoutBytes, exit.stderrBytes], [9, 4])
  })

  it('gives the program its arguments, folder and environment byte for byte, and no other descriptor', async () => {
    const odd = 'ä\n%41 \x01"'
    const run = await running('sh', ['-c', 'printf "%s|" "$@" "$ODD" "$PWD"; ls /proc/self/fd', 'sh', odd, ''], { cwd: '/usr', env: { PATH: '/usr/bin:/bin', ODD: odd } })
    assert.equal((await finished(run)).stdout, `${odd}||${odd}|/usr|0\n1\n2\n3\n`)
    assert.equal(existsSync(k.join(run.dir, 'env')), false)
  })

  it('passes 200 MB through a 4 MB window to the byte, and gives the disk back', async () => {
    const size = 200_000_000
    const run = await running('sh', ['-c', `yes 0123456789abcde | head -c ${size}`], { 'spool-window-bytes': 4 << 20, 'output-bytes': size })
    let seen = 0, wrong = 0, released = 0, most = 0
    run.v.onOutput = (stream, s) => {
      for (const { offset, bytes } of s.chunks.splice(0)) {
        if (stream !== 1 || offset !== seen || bytes[0] !== '0123456789abcde\n'.charCodeAt(offset % 16)) wrong++
        seen += bytes.length
      }
      if (seen - released >= 1 << 20) {
        run.v.release('stdout', (released = seen))
        most = Math.max(most, blocks(k.join(run.dir, 'stdout')))
      }
    }
    const { exit } = await finished(run)
    assert.deepEqual({ ...outcome(exit), seen, wrong, bytes: exit.stdoutBytes, size: statSync(k.join(run.dir, 'stdout')).size }, { ...went, seen: size, wrong: 0, bytes: size, size })
    if (!portable) assert.ok(most < 24 << 20, `spool took ${most} bytes of disk`)
  })

  it('stops reading at the window, drops nothing, and goes on when released', async () => {
    const run = await running('sh', ['-c', 'yes x | head -c 1000000'], { 'spool-window-bytes': 100_000 })
    await until('window full', () => run.v.bytes('stdout').length === 100_000)
    await sleep(100)
    assert.equal(statSync(k.join(run.dir, 'stdout')).size, 100_000)
    run.v.onOutput = (stream, s) => stream === 1 && run.v.release('stdout', s.chunks.at(-1).offset + s.chunks.at(-1).bytes.length)
    run.v.release('stdout', 100_000)
    const { exit } = await finished(run)
    assert.deepEqual([exit.code, exit.stdoutBytes, run.v.bytes('stdout').length], [0, 1_000_000, 1_000_000])
    assert.match(readFileSync(k.join(run.dir, 'released'), 'utf8'), /^stdout \d{20}\nstderr \d{20}\n$/)
  })

  it('keeps what a pipe still holds at the end, although the window is full', async () => {
    const run = await running('sh', ['-c', 'head -c 40000 /dev/zero'], { 'spool-window-bytes': 10 })
    assert.equal((await finished(run)).exit.stdoutBytes, 40000)
  })

  it('ends a run exactly at its output limit; exactly as much is allowed', async () => {
    const over = await finished(await running('yes', [], { 'output-bytes': 1_000_000 }))
    assert.deepEqual([over.exit.limit, over.exit.reason, over.exit.stdoutBytes, over.stdout.length], ['output', 'limit:output', 1_000_000, 1_000_000])
    const exact = await shell('head -c 1000000 /dev/zero', { 'output-bytes': 1_000_000 })
    assert.deepEqual([outcome(exact.exit), exact.exit.stdoutBytes], [went, 1_000_000])
  })

  it('carries one byte at a time, seen from any offset by several views', async () => {
    const run = await running('sh', ['-c', 'for i in 1 2 3 4 5 6 7 8 9; do printf $i; sleep 0.02; done'])
    await until('some output', () => run.v.bytes('stdout').length >= 3)
    const second = await k.view(run.dir)
    await second.attach('stdout', 2)
    await second.ended('stdout')
    assert.deepEqual([second.bytes('stdout').toString(), second.streams[1].chunks[0].offset, second.streams[1].end], ['3456789', 2, 9])
    await assert.rejects(second.attach('stdout', 10), { code: 'range' })
    await second.release('stdout', 5)
    await assert.rejects(second.attach('stdout', 4), { code: 'trimmed' })
    assert.equal((await finished(run)).stdout, '123456789')
  })

  it('tells the end of streams that a program closes while it lives', async () => {
    const run = await running('sh', ['-c', 'trap "exit 5" TERM; echo a; exec >&- 2>&-; while :; do sleep 0.1; done'])
    await run.v.ended('stdout')
    await run.v.ended('stderr')
    assert.equal((await run.v.request('status')).state, 'running')
    await run.v.request('terminate')
    assert.equal((await finished(run)).exit.code, 5)
  })

  it('goes on when its view is cut, and a new one sees everything', async () => {
    const run = await running('sh', ['-c', 'echo one; sleep 0.3; echo two'])
    run.v.socket.destroy()
    const v = await k.view(run.dir)
    await v.attach('stdout')
    await v.attach('stderr')
    assert.equal((await finished({ ...run, v })).stdout, 'one\ntwo\n')
  })

  it('drops a connection that does not speak the protocol, and no other', async () => {
    const run = await running('sleep', ['0.5'])
    for (const bad of [[0xff, 0xff, 0xff, 0xff, 4], [0, 0, 0, 0, 99], [4, 0, 0, 0, 99, 1, 0, 0, 0], [5, 0, 0, 0, 2, 1, 0, 0, 0, 9]]) {
      const v = await k.view(run.dir)
      v.socket.write(Buffer.from(bad))
      await v.done
    }
    assert.deepEqual(outcome((await finished(run)).exit), went)
  })

  for (const [place, walls] of [['local', {}], ['confined', { confinement: { files: [['rox', '/usr'], ['rox', '/lib'], ['rox', '/lib64'], ['rox', '/bin'], ['ro', '/etc']] } }]])
    it(`runs a program in a terminal: size, resize, ^C, end of input, ${place}`, async () => {
      const run = await running('sh', ['-c', 'tty; stty size; trap "stty size; echo winch" WINCH; trap "echo int" INT; echo ready; until read -r line; do :; done; echo "$line"; cat; echo bye'], { ...walls, stdio: 'pty', columns: 100, rows: 30 })
      // Before its traps are set a signal would be lost or end it.
      await until('ready', () => run.v.bytes('stdout').toString().includes('ready'))
      await run.v.resize(132, 50)
      await until('winch', () => run.v.bytes('stdout').toString().includes('winch'))
      await run.v.input('c', '\x03')
      await until('int', () => /int/.test(run.v.bytes('stdout').toString()))
      await run.v.input('l', 'line\n')
      await until('line', () => /line\r\nline\r\n/.test(run.v.bytes('stdout').toString()))
      await run.v.request('closeInput')
      const { exit, stdout } = await finished(run)
      assert.match(stdout, /^\/dev\/pts\/\d+\r\n30 100\r\n/)
      assert.match(stdout, /50 132\r\nwinch/)
      assert.deepEqual([exit.code, exit.stderrBytes, /bye/.test(stdout)], [0, 0, true])
    })

  it('speaks the same frames through `attach` on stdin and stdout', async () => {
    const run = await running('sh', ['-c', 'echo abcdef'])
    await run.v.request('wait')
    const child = spawn(binary, ['attach', run.dir, '--from', '2'], { stdio: ['pipe', 'pipe', 'inherit'] })
    const parts = []
    child.stdout.on('data', (bytes) => parts.push(bytes))
    await until('its frames', () => Buffer.concat(parts).includes('cdef\n'))
    child.stdin.end()
    await new Promise((resolve) => child.on('exit', resolve))
    assert.equal(Buffer.concat(parts)[4], 0x80)
    await finished(run)
  })

  it('detaches: what was started leaves, the keeper stays', async () => {
    const run = await launch('sh', ['-c', 'echo hi'], { startArgs: ['--detach'] })
    assert.deepEqual(await run.child.ended, { code: 0, signal: null })
    assert.notEqual(Number(run.line.split(' ')[1]), run.child.pid)
    const v = await k.view(run.dir)
    assert.equal((await v.hello).pid, Number(run.line.split(' ')[1]))
    await v.request('go')
    assert.equal((await v.request('wait')).code, 0)
    await v.request('finish')
    await v.done
    assert.equal(existsSync(k.join(run.dir, 'sock')), false)
  })

  if (!portable) it('lets no program of the run drive its own keeper', async () => {
    const dir = folder()
    const run = await running('python3', ['-c', 'import socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\nprint(len(s.recv(100)))', k.join(dir, 'sock')], { dir })
    assert.equal((await finished(run)).stdout, '0\n')
  })

  it('holds no descriptor of who started it and nothing outside its folder', async () => {
    const run = await running('sleep', ['0.2'])
    const places = readdirSync(`/proc/${run.child.pid}/fd`).map(() => 1).length
    assert.ok(places < 24, `${places} descriptors`)
    const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${run.child.pid}/status`, 'utf8'))[1])
    if (!process.env.KEEPER_LOGS) assert.ok(rss < 2048, `${rss} KiB resident`)
    await finished(run)
  })
})
