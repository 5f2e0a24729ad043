// The relay: connections to a Unix socket here, carried over one pair of streams to somebody elsewhere.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { binary, finished, keeperEnv, own, root, running, uid, until } from './bench-run.mjs'

const as = uid === process.getuid() ? {} : { uid, gid: uid }
const T = { open: 1, data: 2, end: 3, reset: 4, window: 5, ping: 6, pong: 7, ready: 0x80 }
const WINDOW = 256 << 10
const place = () => own(mkdtempSync(`${root}/relay-`))

const frame = (type, id, payload = Buffer.alloc(0)) => {
  const head = Buffer.alloc(9)
  head.writeUInt32LE(4 + payload.length, 0)
  head[4] = type
  head.writeUInt32LE(id, 5)
  return Buffer.concat([head, payload])
}
const u32 = (n) => Buffer.from([n & 255, (n >> 8) & 255, (n >> 16) & 255, (n >>> 24) & 255])

/** The far end of a relay: answers frames by `on(frame, far)`. */
async function relay(path, on = () => {}, args = []) {
  const child = spawn(binary, ['relay', '--listen', path, ...args], { env: keeperEnv, stdio: ['pipe', 'pipe', 'pipe'], ...as })
  const far = { child, frames: [], said: '', send: (type, id, payload) => child.stdin.write(frame(type, id, payload)) }
  child.stdin.on('error', () => {})
  child.stderr.on('data', (d) => (far.said += d))
  far.ended = new Promise((resolve) => child.on('close', (code) => resolve(code)))
  let held = Buffer.alloc(0)
  child.stdout.on('data', (d) => {
    held = Buffer.concat([held, d])
    while (held.length >= 4 && held.length >= 5 + held.readUInt32LE(0)) {
      const size = held.readUInt32LE(0)
      const f = { type: held[4], id: held.readUInt32LE(5), payload: Buffer.from(held.subarray(9, 5 + size)) }
      held = held.subarray(5 + size)
      if (f.type !== T.data) far.frames.push(f)
      on(f, far)
    }
  })
  await until('it listens', () => far.frames.some((f) => f.type === T.ready) || far.said)
  return far
}
/** Sends back what comes, as an honest far end: within the window, giving credit for what it took. */
function echoing() {
  const links = new Map()
  return (f, far) => {
    if (f.type === T.open) links.set(f.id, { room: WINDOW, queue: Buffer.alloc(0), ended: false })
    const link = links.get(f.id)
    if (f.type === T.window) link.room += f.payload.readUInt32LE(0)
    if (f.type === T.data) {
      link.queue = Buffer.concat([link.queue, f.payload])
      far.send(T.window, f.id, u32(f.payload.length))
    }
    if (f.type === T.end) link.ended = true
    while (link && link.queue.length && link.room) {
      const part = link.queue.subarray(0, Math.min(link.room, 32768))
      far.send(T.data, f.id, part)
      link.room -= part.length
      link.queue = link.queue.subarray(part.length)
    }
    if (link?.ended && !link.queue.length && !link.over) far.send(T.end, f.id), (link.over = true)
  }
}
const dial = (path) => new Promise((resolve, reject) => {
  const s = connect({ path, allowHalfOpen: true }).on('connect', () => resolve(s)).on('error', reject)
  s.closed_ = new Promise((done) => s.on('close', done))
  s.bytes = []
  s.on('data', (d) => s.bytes.push(d))
  s.over = new Promise((done) => s.on('end', done))
})
const text = (s) => Buffer.concat(s.bytes).toString()

describe('relay', { concurrency: 3 }, () => {
  it('says what it is, listens for its user alone, carries bytes and half-closes both ways, and takes its socket along', async () => {
    const path = `${place()}/sock`
    const far = await relay(path, echoing())
    assert.deepEqual([far.frames[0].payload.readUInt32LE(0), far.frames[0].payload.readUInt32LE(4), far.frames[0].payload.readUInt32LE(8)], [1, WINDOW, 256])
    assert.equal(statSync(path).mode & 0o777, 0o600)
    const large = Buffer.alloc(5 << 20, 'abcdefg')
    const sockets = await Promise.all([1, 2, 3].map(() => dial(path)))
    sockets.forEach((s, i) => s.end(i === 1 ? large : `hello ${i}`))
    await Promise.all(sockets.map((s) => s.over))
    assert.deepEqual([text(sockets[0]), Buffer.concat(sockets[1].bytes).equals(large), text(sockets[2])], ['hello 0', true, 'hello 2'])
    far.child.stdin.end()
    assert.equal(await far.ended, 0)
    assert.equal(existsSync(path), false)
  })

  it('one connection that nobody reads stops no other', async () => {
    const path = `${place()}/sock`
    let stuck
    const honest = echoing()
    const far = await relay(path, (f, to) => {
      if (f.type === T.open && !stuck) stuck = f.id
      if (f.id !== stuck) honest(f, to)
    })
    const slow = await dial(path)
    slow.write(Buffer.alloc(4 << 20)) // without credit it stays here
    await until('it is known', () => stuck)
    // Towards a program that does not read: its window and no more.
    slow.pause()
    for (let i = 0; i < WINDOW / 32768; i++) far.send(T.data, stuck, Buffer.alloc(32768))
    for (let i = 0; i < 5; i++) {
      const s = await dial(path)
      s.end('quick')
      await s.over
      assert.equal(text(s), 'quick')
    }
    far.child.stdin.end()
    await far.ended
    await slow.closed_
  })

  it('answers PING; a reset from the far end closes; a program that goes away is told', async () => {
    const path = `${place()}/sock`
    const far = await relay(path)
    far.send(T.ping, 0, Buffer.from('beat'))
    await until('pong', () => far.frames.some((f) => f.type === T.pong && f.payload.toString() === 'beat'))
    const s = await dial(path)
    const open = await until('open', () => far.frames.find((f) => f.type === T.open))
    far.send(T.reset, open.id)
    await s.over
    const other = await dial(path)
    const second = await until('open', () => far.frames.findLast((f) => f.type === T.open && f.id !== open.id))
    other.destroy()
    await until('its end', () => far.frames.some((f) => f.type === T.end && f.id === second.id))
    for (let i = 0; i < 3; i++) far.send(T.data, second.id, Buffer.from('late'))
    await until('its reset', () => far.frames.some((f) => f.type === T.reset && f.id === second.id))
    far.child.stdin.end()
    assert.equal(await far.ended, 0)
  })

  it('a second one takes over at once; the first one leaves and does not take the socket along', async () => {
    const path = `${place()}/sock`
    const first = await relay(path)
    const old = await dial(path)
    const second = await relay(path, echoing())
    const s = await dial(path)
    s.end('again')
    await s.over
    assert.equal(text(s), 'again')
    assert.equal(await first.ended, 0)
    await old.over
    assert.equal(existsSync(path), true)
    second.child.kill('SIGTERM')
    assert.equal(await second.ended, 0)
    assert.equal(existsSync(path), false)
  })

  it('ends when its far end says nothing for the time given, or breaks the rules', async () => {
    const dir = place()
    const silent = await relay(`${dir}/a`, () => {}, ['--silence-ms', '100'])
    assert.equal(await silent.ended, 0)
    const broken = {
      length: Buffer.from([255, 255, 255, 255, 2]), type: frame(99, 1), never: frame(T.data, 77, Buffer.from('x')), ready: frame(T.ready, 0), empty: frame(T.data, 1),
      window: frame(T.window, 1, u32(0)), large: frame(T.data, 1, Buffer.alloc(40000)), ping: frame(T.ping, 0, Buffer.alloc(100)),
    }
    for (const [name, bytes] of Object.entries(broken)) {
      const far = await relay(`${dir}/${name}`)
      await dial(`${dir}/${name}`)
      far.child.stdin.write(bytes)
      assert.equal(await far.ended, 0, name)
      assert.equal(existsSync(`${dir}/${name}`), false)
    }
    const greedy = await relay(`${dir}/greedy`)
    await dial(`${dir}/greedy`)
    const open = await until('open', () => greedy.frames.find((f) => f.type === T.open))
    greedy.send(T.window, open.id, u32(WINDOW))
    await greedy.ended
    const flooding = await relay(`${dir}/flooding`)
    const s = await dial(`${dir}/flooding`)
    s.pause()
    const link = await until('open', () => flooding.frames.find((f) => f.type === T.open))
    for (let i = 0; i < 64; i++) flooding.send(T.data, link.id, Buffer.alloc(32768))
    await flooding.ended
  })

  it('holds at most its number of connections; the next waits for a place', async () => {
    const path = `${place()}/sock`
    const far = await relay(path)
    const all = []
    for (let i = 0; i < 260; i++) all.push(await dial(path))
    const opened = () => far.frames.filter((f) => f.type === T.open).length
    await until('all that fit', () => opened() === 256)
    far.send(T.reset, 1)
    await until('one more', () => opened() === 257)
    all.forEach((s) => s.destroy())
    far.child.stdin.end()
    await far.ended
  })

  it('is the target of a front: a program\'s connection waits while there is none, and goes on', async () => {
    const path = `${place()}/sock`
    const script = 'import socket,sys,time\nfor i in range(2):\n  s=socket.create_connection(("127.0.0.1",7787))\n  s.sendall(b"hi%d"%i); s.shutdown(socket.SHUT_WR)\n  print(s.recv(9).decode(),flush=True)\n  sys.stdin.readline()'
    const walls = { confinement: { files: [['rox', '/usr'], ['rox', '/lib'], ['rox', '/lib64'], ['rox', '/bin'], ['ro', '/etc'], ['ro', '/proc'], ['rw', '/dev/null']] } }
    const run = await running('python3', ['-c', script], { ...walls, stdio: 'stream', 'front-port': 7787, 'front-target': path, 'front-hold-ms': 60000, 'front-hold-max': 8 })
    const first = await relay(path, echoing())
    await until('the first answer', () => run.v.bytes('stdout').toString() === 'hi0\n')
    first.child.kill('SIGKILL') // leaves its socket behind
    await first.ended
    await run.v.input('next', '\n')
    const second = await relay(path, echoing())
    await until('the second answer', () => run.v.bytes('stdout').toString() === 'hi0\nhi1\n')
    await run.v.request('closeInput')
    await finished(run)
    second.child.stdin.end()
    await second.ended
  })
})
