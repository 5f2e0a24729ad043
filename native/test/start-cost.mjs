// Start cost over a bare spawn, interleaved, median ms. `ran`: until exec is known. `ended`: until the end of /bin/true is durable.
import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import * as k from './keeper-view.mjs'
import { mkdtempSync, rmSync } from 'node:fs'

const binary = process.argv[2] ?? new URL('../build/orrery-keeper', import.meta.url).pathname
const rounds = Number(process.argv[3] ?? 40)
const root = mkdtempSync(k.join(tmpdir(), 'keeper-cost-'))
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1].toFixed(2)

const bare = () => new Promise((resolve) => {
  const from = performance.now()
  spawn('/bin/true', [], { detached: true, stdio: ['ignore', 'pipe', 'ignore'], env: {} }).on('exit', () => resolve({ ended: performance.now() - from }))
})

async function kept(confinement) {
  const dir = k.makeDir(root)
  k.writeSpec(dir, k.specText('/bin/true', [], { ...(confinement && { confinement }) }))
  const from = performance.now()
  const { child, line } = k.start(binary, dir)
  await line
  const ready = performance.now() - from
  const v = await k.view(dir)
  await v.request('go')
  const ran = performance.now() - from
  await v.request('wait')
  const ended = performance.now() - from
  await v.request('finish')
  await child.ended
  v.close()
  return { ready, ran, ended }
}

const walls = { files: [['rox', '/usr'], ['rox', '/lib'], ['rox', '/lib64'], ['rox', '/bin'], ['ro', '/etc'], ['ro', '/proc'], ['rw', '/dev/null'], ['rwx', root]] }
const cases = { bare, local: () => kept(null), 'landlock only': () => kept({ ...walls, processes: 0, network: 'host' }), namespaces: () => kept(walls) }
const results = Object.fromEntries(Object.keys(cases).map((name) => [name, []]))
for (let i = 0; i < rounds; i++) for (const [name, run] of Object.entries(cases)) results[name].push(await run())
for (const [name, list] of Object.entries(results))
  console.log(name.padEnd(14), Object.keys(list[0]).map((key) => `${key} ${median(list.map((r) => r[key]))}`).join('  '))
rmSync(root, { recursive: true })
