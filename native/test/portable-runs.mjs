// A keeper of POSIX alone says what it does not have, and refuses what it cannot promise.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { binary, finished, k, launch, running } from './bench-run.mjs'

const confinement = { files: [['rox', '/']], network: 'host' }

describe('without the kernel\'s walls', () => {
  it('no guarantee is held, each with the reason, in a run and in the probe', async () => {
    const run = await running('true', [], { confinement })
    const probed = JSON.parse(execFileSync(binary, ['probe'])).guarantees
    for (const said of [JSON.parse(readFileSync(k.join(run.dir, 'guarantees'), 'utf8')), probed])
      for (const g of said) assert.deepEqual([g.held, g.by, /Linux only/.test(g.missing)], [false, 'nothing', true], g.guarantee)
    await finished(run)
  })

  it('a run that requires one, or a wrapper, does not start', async () => {
    assert.equal((await launch('true', [], { confinement, required: 'files' })).line, 'refused guarantee:files')
    assert.match((await launch('true', [], { confinement: { ...confinement, network: 'none', wrapper: ['/bin/true'] } })).line, /^refused wrapper:/)
  })
})
