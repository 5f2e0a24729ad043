// Archives that mean harm: whatever they say, nothing outside the folder is touched.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { command, list, ok, place } from './bench-archive.mjs'
import { own } from './bench-run.mjs'

/** A header by hand: what no honest archiver writes. */
function header({ path = 'x', type = '0', size = 0, target = '', mode = '0000644', magic = 'ustar\x0000' }) {
  const block = Buffer.alloc(512)
  block.write(path, 0, 'latin1')
  block.write(mode, 100)
  block.write(size.toString(8).padStart(11, '0'), 124)
  block.write('00000000000', 136)
  block.write('        ', 148)
  block.write(type, 156)
  block.write(target, 157, 'latin1')
  block.write(magic, 257, 'latin1')
  block.write(block.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, '0') + '\0 ', 148)
  return block
}
const padded = (text) => Buffer.concat([Buffer.from(text, 'latin1'), Buffer.alloc((512 - (text.length % 512)) % 512)])
const end = Buffer.alloc(1024)
const record = (key, value) => {
  const rest = ` ${key}=${value}\n`
  let n = rest.length + 1
  while (String(n).length + rest.length !== n) n++
  return `${n}${rest}`
}
const pax = (...records) => [header({ path: 'pax', type: 'x', size: records.join('').length }), padded(records.join(''))]
const file = (path, text) => [header({ path, size: text.length }), padded(text)]

describe('an archive that means harm', { concurrency: 3 }, () => {
  const refused = {
    'climbs': [...file('../evil', 'x'), end],
    'climbs inside': [...file('a/../../evil', 'x'), end],
    'is absolute': [...file('/tmp/evil', 'x'), end],
    'climbs by pax': [...pax(record('path', '../evil')), ...file('good', 'x'), end],
    'has a NUL in a pax path': [...pax(record('path', 'a\0b')), ...file('good', 'x'), end],
    'climbs by a GNU name': [header({ type: 'L', size: 8 }), padded('../evil\0'), ...file('good', 'x'), end],
    'links hard to the outside': [header({ type: '1', path: 'x', target: '../../etc/passwd' }), end],
    'links hard to an absolute path': [header({ type: '1', path: 'x', target: '/etc/passwd' }), end],
    'links hard through a link': [header({ type: '2', path: 'l', target: '/etc' }), header({ type: '1', path: 'x', target: 'l/passwd' }), end],
    'links hard to a link': [header({ type: '2', path: 'l', target: '/etc/passwd' }), header({ type: '1', path: 'x', target: 'l' }), end],
    'has a wrong sum': [Buffer.concat([header({}).subarray(0, 511), Buffer.from('x')]), end],
    'is no archive': [Buffer.alloc(512, 'x')],
    'has no end': [...file('good', 'x')],
    'ends within a file': [header({ path: 'x', size: 5000 }), Buffer.alloc(512)],
    'ends within a header': [header({}).subarray(0, 100)],
    'announces a header too long': [header({ type: 'x', size: 2 ** 31 })],
    'has a broken pax record': [header({ type: 'x', size: 10 }), padded('99 path=x\n'), ...file('x', ''), end],
    'is sparse': [header({ type: 'S', size: 10 }), end],
    'is sparse by pax': [...pax(record('GNU.sparse.major', '1')), ...file('x', ''), end],
    'has headers only': [...pax(record('path', 'x')), end],
    'has headers without end': [...Array.from({ length: 40 }, () => pax(record('path', 'x'))).flat(), end],
    'has a link without a target': [header({ type: '2' }), end],
    'is empty': [],
  }
  for (const [what, blocks] of Object.entries(refused))
    it(`${what}: refused, and nothing is written outside`, () => {
      const top = place()
      const dir = own((mkdirSync(`${top}/in`), `${top}/in`))
      const done = command(['unpack', dir], Buffer.concat(blocks))
      assert.equal(done.err.split('\n').length, 2, done.err)
      assert.ok([1, 3, 8].includes(done.code), `${done.code} ${done.err}`)
      assert.deepEqual(readdirSync(top), ['in'])
    })

  it('writes through no link, neither of the archive nor of the tree', () => {
    const dir = place(), outside = place()
    symlinkSync(outside, `${dir}/old`)
    writeFileSync(`${outside}/file`, 'outside')
    symlinkSync(`${outside}/file`, `${dir}/last`)
    ok(['unpack', dir], Buffer.concat([header({ type: '2', path: 'new', target: outside }), ...file('new/a', 'x'), ...file('old/b', 'x'), ...file('last', 'x'), header({ type: '5', path: 'old', mode: '0000700' }), end]))
    assert.deepEqual([readdirSync(outside), readFileSync(`${outside}/file`, 'utf8'), Object.keys(list(dir)).sort()], [['file'], 'outside', ['last', 'new', 'new/a', 'old', 'old/b']])
  })

  it('makes no devices and fifos, and says so', () => {
    const dir = place()
    const done = command(['unpack', dir], Buffer.concat([header({ type: '6', path: 'fifo' }), header({ type: '3', path: 'device' }), end]))
    assert.deepEqual([done.code, done.err, readdirSync(dir)], [0, 'left out: fifo\nleft out: device\n', []])
  })
})
