// Input: once per id, and after any death of the keeper the journal tells how far it got.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { faulty, finished, folder, journalState, k, launch, own, running, sleep, until } from './bench-run.mjs'

const stream = { stdio: 'stream' }

describe('input', { concurrency: 3 }, () => {
  it('writes each id once, in order, from any view, and closes after the last', async () => {
    const run = await running('cat', [], stream)
    const other = await k.view(run.dir)
    const states = await Promise.all([run.v.input('a', 'one '), other.input('b', 'two '), run.v.input('a', 'one '), run.v.input('empty', '')])
    assert.deepEqual(states, Array(4).fill({ state: 'written' }))
    await run.v.request('closeInput')
    await other.request('closeInput')
    assert.deepEqual(await run.v.input('a', 'one '), { state: 'written' })
    await assert.rejects(run.v.input('late', 'x'), { code: 'no-input' })
    const stdout = (await finished(run)).stdout
    assert.ok(['one two ', 'two one '].includes(stdout), stdout)
    assert.deepEqual(['a', 'b', 'empty', 'late'].map((id) => journalState(run.dir, id).state), ['written', 'written', 'written', 'unwritten'])
  })

  it('carries 16 MiB to the byte past a slow reader, and refuses more than 32 MiB waiting', async () => {
    const bytes = Buffer.alloc(16 << 20, 'abcdefg')
    const place = own(folder())
    const run = await running('sh', ['-c', `while [ ! -e ${place}/read ]; do sleep 0.02; done; md5sum`], stream)
    const first = run.v.input('one', bytes)
    const second = run.v.input('two', bytes)
    await assert.rejects(run.v.input('three', 'x'), { code: 'busy' })
    writeFileSync(`${place}/read`, '')
    assert.deepEqual([await first, await second], [{ state: 'written' }, { state: 'written' }])
    await run.v.request('closeInput')
    const { createHash } = await import('node:crypto')
    assert.equal((await finished(run)).stdout.slice(0, 32), createHash('md5').update(bytes).update(bytes).digest('hex'))
  })

  it('piped runs have no input', async () => {
    const run = await running('cat', [])
    await assert.rejects(run.v.input('a', 'x'), { code: 'no-input' })
    assert.equal((await finished(run)).exit.code, 0)
  })

  it('nothing reaches a program before go', async () => {
    const run = await launch('cat', [], stream)
    const v = await k.view(run.dir)
    const write = v.input('early', 'x')
    await sleep(100)
    assert.deepEqual(await v.inputState('early'), { state: 'unwritten' })
    await v.request('finish')
    assert.deepEqual(await write, { state: 'unwritten' })
    await run.child.ended
    assert.deepEqual(journalState(run.dir, 'early'), { state: 'unwritten' })
  })

  it('a reader that stops reading: partly, and how much; later ones not at all', async () => {
    const run = await running('sh', ['-c', 'head -c 10 >/dev/null; sleep 0.2; exec <&-; sleep 0.5'], stream)
    const [first, second] = await Promise.all([run.v.input('long', Buffer.alloc(200_000)), run.v.input('next', 'x')])
    assert.equal(first.state, 'partial')
    assert.ok(first.bytes > 0 && first.bytes < 200_000 && first.bytes % 4096 === 0, `${first.bytes}`)
    assert.deepEqual([second, await run.v.inputState('long'), await run.v.input('long', 'again')], [{ state: 'unwritten' }, first, first])
    await finished(run)
    assert.deepEqual([journalState(run.dir, 'long'), journalState(run.dir, 'next')], [first, { state: 'unwritten' }])
  })

  it('the program ends with input waiting: said per input', async () => {
    const run = await running('sh', ['-c', 'sleep 0.2'], stream)
    const states = await Promise.all([run.v.input('a', Buffer.alloc(100_000)), run.v.input('b', 'x')])
    assert.deepEqual(states, [{ state: 'partial', bytes: 65536 }, { state: 'unwritten' }])
    await finished(run)
  })

  // What the program really read is the judge: never more than the journal allows, never less than it claims.
  for (const [point, state, read] of [
    ['input-intent', { state: 'unwritten' }, [0]], ['input-tried', { state: 'partial', bytes: 0 }, [0]], ['input-piece', { state: 'partial', bytes: 0 }, [0, 4096]],
    ['input-all', { state: 'partial', bytes: 10000 }, [10000]], ['input-done', { state: 'written' }, [10000]],
  ])
    it(`the keeper killed at ${point}`, async () => {
      const place = own(folder())
      const run = await running('sh', ['-c', `exec cat > ${place}/got`], { ...stream, keeper: faulty, keeperVariables: { KEEPER_FAULT: point } })
      await run.v.input('a', Buffer.alloc(10000)).catch(() => {})
      await run.child.ended
      const got = existsSync(`${place}/got`) ? readFileSync(`${place}/got`).length : 0
      assert.deepEqual(journalState(run.dir, 'a'), state)
      assert.ok(got <= Math.max(...read), `${got} bytes arrived`)
    })

  it('killed at any moment: what arrived is within what the journal says', async () => {
    for (let i = 0; i < 12; i++) {
      const place = own(folder())
      const run = await running('sh', ['-c', `exec cat > ${place}/got`], stream)
      run.v.input('a', Buffer.alloc(3_000_000)).catch(() => {})
      await sleep(i * 3)
      process.kill(run.child.pid, 'SIGKILL')
      await run.child.ended
      await until('the program is gone', () => !run.v.closed || true)
      await sleep(20)
      const got = existsSync(`${place}/got`) ? readFileSync(`${place}/got`).length : 0
      const state = journalState(run.dir, 'a')
      const most = { unwritten: 0, partial: (state.bytes ?? 0) + 4096, written: 3_000_000 }[state.state]
      assert.ok(got <= most, `${got} arrived, journal: ${JSON.stringify(state)}`)
    }
  })
})
