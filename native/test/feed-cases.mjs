// Input in pieces, for connections that can only end as a whole.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { binary, keeperEnv, root } from './bench-run.mjs'

const piece = (bytes) => {
  const head = Buffer.alloc(4)
  head.writeUInt32LE(bytes.length)
  return Buffer.concat([head, bytes])
}
const end = piece(Buffer.alloc(0))
const feed = (words, input) => {
  const done = spawnSync(binary, ['feed', '--', ...words], { input, env: { ...keeperEnv, PATH: process.env.PATH }, maxBuffer: 1 << 30 })
  return { code: done.status, out: done.stdout.toString('latin1'), word: done.stderr.toString().split(': ')[1] }
}

describe('feed', () => {
  it('gives the pieces as one stream, ends it, and passes the exit code on', () => {
    assert.deepEqual(feed(['cat'], Buffer.concat([piece(Buffer.from('ab')), piece(Buffer.from('c')), end])), { code: 0, out: 'abc', word: undefined })
    assert.deepEqual(feed(['sh', '-c', 'cat; exit 7'], end), { code: 7, out: '', word: undefined })
    const big = Buffer.alloc(5_000_000, 'x')
    assert.equal(feed(['wc', '-c'], Buffer.concat([piece(big), end])).out.trim(), '5000000')
  })

  it('kills a command whose input was cut, wherever it was cut', () => {
    const dir = mkdtempSync(`${root}/feed-`)
    const whole = Buffer.concat([piece(Buffer.from('half of it')), end])
    for (let size = 0; size < whole.length; size++) {
      const done = feed([binary, 'put', `${dir}/file`, '--mode', '600'], whole.subarray(0, size))
      assert.deepEqual([done.code, done.word, existsSync(`${dir}/file`)], [8, 'bad-stream', false])
    }
    assert.equal(feed([binary, 'put', `${dir}/file`, '--mode', '600'], whole).code, 0)
    assert.equal(readFileSync(`${dir}/file`, 'utf8'), 'half of it')
  })

  it('ends with a command that reads no more, and while its caller still holds stdin', async () => {
    assert.equal(feed(['true'], Buffer.concat([piece(Buffer.alloc(1_000_000)), end])).code, 0)
    const child = spawn(binary, ['feed', '--', 'cat'], { env: { ...keeperEnv, PATH: process.env.PATH }, stdio: ['pipe', 'pipe', 'inherit'] })
    child.stdin.write(Buffer.concat([piece(Buffer.from('x')), end]))
    assert.equal(await new Promise((resolve) => child.on('close', resolve)), 0)
    child.stdin.destroy()
    const gone = spawn(binary, ['feed', '--', 'sh', '-c', 'exit 9'], { env: { ...keeperEnv, PATH: process.env.PATH }, stdio: ['pipe', 'pipe', 'inherit'] })
    assert.equal(await new Promise((resolve) => gone.on('close', resolve)), 9)
    gone.stdin.destroy()
  })

  it('says what is wrong with the command', () => {
    assert.deepEqual([feed(['/nowhere'], end).code, feed(['sh', '-c', 'kill -9 $$'], end)], [3, { code: 1, out: '', word: 'SIGKILL' }])
    assert.equal(spawnSync(binary, ['feed', 'cat'], { env: keeperEnv }).status, 64)
  })
})
