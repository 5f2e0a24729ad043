// As in a container or pod without rights: root in a user namespace, no capability, no further namespaces, and its own processes.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { describe, it } from 'node:test'
import { binary, folder, k, keeperEnv, outcome, own, root, uid, until } from './bench-run.mjs'

const as = uid === process.getuid() ? {} : { uid, gid: uid }
// The last word of a container that may nothing: also what would let it make namespaces is taken away.
const enter = ['--user', '--map-root-user', '--mount', '--pid', '--fork', '--mount-proc', '--kill-child', 'sh', '-c', 'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all --no-new-privs "$@"', 'sh']
const possible = spawnSync('unshare', [...enter, 'true'], as).status === 0
const skip = possible ? false : 'no user namespaces here: containers without rights are not tried'

async function contained(spec, env) {
  const dir = folder()
  k.writeSpec(dir, spec, { env, uid: uid === process.getuid() ? 0 : uid })
  const child = spawn('unshare', [...enter, 'sh', '-c', '"$0" run --dir "$1" --detach; exec sleep 1000', binary, dir], { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...keeperEnv }, ...as })
  child.ended = new Promise((resolve) => child.on('exit', (code, signal) => resolve({ code, signal })))
  let line = ''
  child.stdout.on('data', (d) => (line += d))
  await until('its line', () => line.includes('\n'))
  return { dir, child, line: line.trim() }
}

describe('in a container without rights', { concurrency: 2 }, () => {
  it('a confined run with the host\'s network starts detached, says which walls are missing, and reaches its front', { skip }, async () => {
    const place = own(mkdtempSync(`${root}/container-`))
    const server = createServer((c) => c.on('data', (d) => c.end(`echo ${d}`)))
    await new Promise((resolve) => server.listen(`${place}/node.sock`, resolve))
    own(`${place}/node.sock`)
    // The network is the machine's: a port that is free now.
    const other = createServer()
    await new Promise((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address()
    await new Promise((resolve) => other.close(resolve))
    const script = `import socket\ns=socket.create_connection(("127.0.0.1",${port}))\ns.sendall(b"hi")\nprint(s.recv(9).decode(),flush=True)\nfor p in ("${place}/in","${root}/out"):\n  try: open(p,"w").write("x"); print("wrote")\n  except OSError as e: print(e.errno)`
    const confinement = { network: 'host', files: [['rox', '/usr'], ['rox', '/lib'], ['rox', '/lib64'], ['rox', '/bin'], ['ro', '/etc'], ['rw', '/dev/null'], ['rwx', place]] }
    const run = await contained(k.specText('python3', ['-c', script], { confinement, 'front-port': port, 'front-target': `${place}/node.sock`, 'front-hold-ms': 1000, 'front-hold-max': 4 }))
    assert.match(run.line, /^ready \d+ /)
    const said = Object.fromEntries(JSON.parse(readFileSync(k.join(run.dir, 'guarantees'), 'utf8')).map((g) => [g.guarantee, g]))
    for (const g of Object.values(said)) assert.ok(g.held || g.missing, `${g.guarantee} is neither held nor explained`)
    assert.equal(said.processes.held, false)
    const v = await k.view(run.dir)
    await v.attach('stdout')
    await v.attach('stderr')
    await v.request('go')
    const exit = await v.request('wait')
    await v.ended('stdout')
    server.close()
    assert.deepEqual([outcome(exit), v.bytes('stdout').toString()], [{ code: 0, signal: null, limit: null, reason: null }, `echo hi\nwrote\n${said.files.held ? 13 : 'wrote'}\n`])
    run.child.kill('SIGTERM')
  })

  it('the end of the container is the end of the keeper and its tree', { skip }, async () => {
    const run = await contained(k.specText('sleep', ['1000']))
    const v = await k.view(run.dir)
    await v.request('go')
    run.child.kill('SIGKILL')
    await v.done
    assert.equal(k.exitRecord(run.dir), null)
  })
})
