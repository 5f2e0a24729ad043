// The starter, from WIRE.md alone: what it starts, what it says, and what is left when somebody goes.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { describe, it } from 'node:test'
import { alive, binary, keeperEnv, mark, sleep, until } from './bench-run.mjs'

const ASK = { start: 1, input: 2, close: 3, kill: 4, credit: 5, release: 6 }
const SAID = { 0x80: 'started', 0x81: 'refused', 0x82: 'output', 0x83: 'eof', 0x84: 'exit', 0x85: 'room', 0x86: 'input-ended' }
const u32 = (...values) => Buffer.concat(values.map((value) => (((b) => (b.writeUInt32LE(value), b))(Buffer.alloc(4)))))
const frame = (type, id, payload = Buffer.alloc(0)) => Buffer.concat([u32(4 + payload.length), Buffer.from([type]), u32(id), payload])
const startOf = (argv, { cwd = '/', env = ['PATH=/usr/bin:/bin'], flags = 0, memory = 0 } = {}) =>
  Buffer.concat([Buffer.from([flags]), u32(argv.length, env.length, memory), Buffer.from([cwd, ...argv, ...env].map((text) => text + '\0').join(''))])

function open() {
  const child = spawn(binary, ['starter'], { detached: true, stdio: ['pipe', 'pipe', 'inherit'], env: keeperEnv })
  const s = { child, said: [], send: (type, id, payload) => child.stdin.write(frame(ASK[type], id, payload)), bytes: (bytes) => child.stdin.write(bytes) }
  s.ended = new Promise((resolve) => child.on('exit', (code, signal) => resolve({ code, signal })))
  child.stdin.on('error', () => {})
  let rest = Buffer.alloc(0)
  child.stdout.on('data', (bytes) => {
    rest = Buffer.concat([rest, bytes])
    while (rest.length >= 9 && rest.length >= 5 + rest.readUInt32LE(0)) {
      const size = rest.readUInt32LE(0)
      s.said.push({ kind: SAID[rest[4]], id: rest.readUInt32LE(5), payload: Buffer.from(rest.subarray(9, 5 + size)) })
      rest = rest.subarray(5 + size)
    }
  })
  s.of = (id, kind) => s.said.filter((f) => f.id === id && f.kind === kind)
  s.text = (id, stream = 0) => Buffer.concat(s.of(id, 'output').filter((f) => f.payload[0] === stream).map((f) => f.payload.subarray(1)))
  s.exit = (id) => (([f]) => f && { code: f.payload.readUInt32LE(0), signal: f.payload.readUInt32LE(4) })(s.of(id, 'exit'))
  s.over = (id, eofs = 1) => until(`command ${id} is over`, () => s.of(id, 'exit').length === 1 && s.of(id, 'eof').length === eofs)
  s.leave = async () => (child.stdin.end(), await s.ended)
  return s
}
const shell = (script) => ['/bin/sh', '-c', script]

describe('starter', { concurrency: 3 }, () => {
  it('starts with exactly what was said, and tells both outputs and the exit', async () => {
    const s = open()
    s.send('start', 1, startOf(['/bin/sh', '-c', 'pwd; echo "$1"; echo "$A"; echo err >&2; exit 5', 'x', 'a b'], { cwd: '/usr', env: ['A=1 2'], flags: 2 }))
    await s.over(1, 2)
    assert.deepEqual([String(s.text(1)), String(s.text(1, 1)), s.exit(1)], ['/usr\na b\n1 2\n', 'err\n', { code: 5, signal: 0 }])
    s.send('start', 2, startOf(['/usr/bin/env'], { env: [] }))
    await s.over(2)
    assert.equal(String(s.text(2)), '')
    assert.deepEqual(await s.leave(), { code: 0, signal: null })
  })

  it('bounds the memory of a command that was given a bound, and of no other', async () => {
    const s = open()
    s.send('start', 1, startOf(['/bin/sh', '-c', 'ulimit -d'], { memory: 64 }))
    s.send('start', 2, startOf(['/bin/sh', '-c', 'ulimit -d']))
    await s.over(1)
    await s.over(2)
    assert.deepEqual([String(s.text(1)), String(s.text(2)) === '65536\n'], ['65536\n', false])
    await s.leave()
  })

  it('refuses what is not there, what is not absolute, and goes on', async () => {
    const s = open()
    s.send('start', 1, startOf(['/no/such']))
    s.send('start', 2, startOf(['sh']))
    s.send('start', 3, startOf(['/bin/true'], { cwd: '/no/such' }))
    s.send('start', 4, startOf(['/etc/passwd']))
    s.send('start', 5, startOf(['/bin/true']))
    await s.over(5)
    assert.deepEqual([1, 2, 3, 4].map((id) => s.of(id, 'refused')[0]?.payload.readUInt32LE(0)), [2, 2, 2, 13])
    assert.deepEqual(s.said.filter((f) => f.id < 5).length, 4)
    await s.leave()
  })

  it('keeps to the window of output until credit comes, and serves others meanwhile', async () => {
    const s = open()
    s.send('start', 1, startOf(shell('head -c 1000000 /dev/zero')))
    await until('the window is full', () => s.text(1).length === 262144)
    s.send('start', 2, startOf(shell('echo other')))
    await s.over(2)
    await sleep(50)
    assert.deepEqual([s.text(1).length, String(s.text(2))], [262144, 'other\n'])
    s.send('credit', 1, Buffer.concat([Buffer.from([0]), u32(737857)]))
    await s.over(1)
    assert.deepEqual([s.text(1).length, s.exit(1)], [1000000, { code: 0, signal: 0 }])
    await s.leave()
  })

  it('writes input as the window allows, closes it after all of it, says when nobody reads', async () => {
    const s = open()
    s.send('start', 1, startOf(['/usr/bin/wc', '-c'], { flags: 1 }))
    s.send('input', 1, Buffer.alloc(65536))
    await until('there is room again', () => s.of(1, 'room')[0]?.payload.readUInt32LE(0) === 65536)
    s.send('input', 1, Buffer.alloc(65536))
    s.send('close', 1)
    await s.over(1)
    assert.equal(String(s.text(1)).trim(), '131072')
    s.send('start', 2, startOf(shell('exec <&-; sleep 0.2'), { flags: 1 }))
    await until('it is said', () => s.of(2, 'input-ended').length === 1)
    await s.over(2)
    await s.leave()
  })

  it('ends at the first thing that no client says, with what it started', async () => {
    const broken = [
      Buffer.from([3, 0, 0, 0, 4, 0, 0, 0, 0]),
      frame(9, 1),
      u32(0xffffffff),
      frame(ASK.start, 2, startOf(['/bin/true']).subarray(0, -1)),
      frame(ASK.start, 2, startOf([])),
      frame(ASK.credit, 1, Buffer.from([2, 0, 0, 0, 0])),
      frame(ASK.input, 1, Buffer.alloc(65537)),
      Buffer.concat([frame(ASK.input, 1, Buffer.alloc(65536)), frame(ASK.input, 1, Buffer.alloc(65536)), frame(ASK.input, 1, Buffer.alloc(65536))]),
    ]
    for (const bytes of broken) {
      const s = open(), word = mark()
      s.send('start', 1, startOf(shell(`sleep 6${word}`), { flags: 1 }))
      await until('it runs', () => alive(`6${word}`).length > 0)
      s.bytes(bytes.length === 4 ? Buffer.concat([bytes, Buffer.alloc(5)]) : bytes)
      assert.deepEqual(await s.ended, { code: 0, signal: null })
      await until('nothing is left', () => alive(`6${word}`).length === 0)
    }
  })

  it('kills a whole group, also when its first process has ended already', async () => {
    const s = open(), [one, two] = [mark(), mark()]
    s.send('start', 1, startOf(shell(`sleep 6${one} & sleep 7${one}`)))
    s.send('start', 2, startOf(shell(`sleep 6${two} & exit 3`)))
    await until('both run', () => alive(`7${one}`).length > 0 && alive(`6${two}`).length > 0 && s.exit(2)?.code === 3)
    s.send('kill', 1)
    s.send('kill', 2)
    await s.over(1)
    await s.over(2)
    assert.deepEqual([s.exit(1).signal, alive(one), alive(two)], [9, [], []])
    await s.leave()
  })

  for (const [how, go] of [['the client goes', (s) => s.child.stdin.end()], ['the starter is killed', (s) => s.child.kill('SIGKILL')]])
    it(`${how}: commands end, what lives on lives on`, async () => {
      const s = open(), [mortal, lasting] = [mark(), mark()]
      s.send('start', 1, startOf(['/bin/sleep', `6${mortal}`]))
      s.send('start', 2, startOf(['/bin/sleep', `6${lasting}`], { flags: 4 }))
      await until('both run', () => alive(`6${mortal}`).length + alive(`6${lasting}`).length === 2)
      go(s)
      await s.ended
      await until('one is left', () => alive(`6${mortal}`).length === 0)
      assert.equal(alive(`6${lasting}`).length, 1)
      process.kill(Number(alive(`6${lasting}`)[0]), 'SIGKILL')
    })

  it('leaves no zombie and no descriptor behind, however many commands there were', async () => {
    const s = open()
    s.send('start', 1, startOf(['/bin/true']))
    await s.over(1)
    for (let id = 2; id <= 200; id++) s.send('start', id, startOf(shell('echo x; cat'), { flags: id % 2 ? 1 : 2 })), id % 2 && s.send('close', id)
    for (let id = 2; id <= 200; id++) await s.over(id, id % 2 ? 1 : 2)
    await until('pipes are closed', () => readdirSync(`/proc/${s.child.pid}/fd`).length === 5)
    const children = readFileSync(`/proc/${s.child.pid}/task/${s.child.pid}/children`, 'utf8')
    assert.equal(children, '')
    await s.leave()
  })
})
