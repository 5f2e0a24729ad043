// Walls and the front: what gets out, what must not, and what is said about it.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { describe, it } from 'node:test'
import { asRoot, binary, finished, folder, k, launch, own, root, rootOnly, running, shell, sleep } from './bench-run.mjs'
import { attempts, harmless, held, listening, system } from './escape-bench.mjs'

describe('walls', { concurrency: 2 }, () => {
  it('no attempt gets out of a run with everything on', async () => {
    const { allowed, guarantees, secret } = await attempts({})
    assert.deepEqual(allowed, harmless)
    assert.deepEqual(held(guarantees), ['files', 'network', 'hosts', 'processes', 'signals', 'limits'])
    assert.equal(secret, 'a secret that nobody reads')
  })

  it('without own processes: secrets, memory and signals of others stay closed or are said to be open', async () => {
    const { allowed, guarantees } = await attempts({ processes: 0 })
    const open = allowed.filter((name) => !harmless.includes(name))
    assert.deepEqual(open.filter((name) => /secret-(read|by|hard|append|trunc|unlink)|environ|mem|maps|root|cwd|fd$|ptrace|vm-|port|udp|raw|vsock|docker|inherited|mount|unshare/.test(name)), [])
    assert.deepEqual(held(guarantees).includes('processes') || held(guarantees).includes('signals'), false)
  })

  it('a run with the host network still has no other kinds of sockets', async () => {
    const { allowed, guarantees } = await attempts({ network: 'host' })
    assert.deepEqual(allowed.filter((name) => !harmless.includes(name) && !/^(other-port|udp)/.test(name)), [])
    assert.deepEqual(held(guarantees), ['files', 'processes', 'signals', 'limits'])
  })

  rootOnly('without namespaces Landlock and seccomp hold what they can, and the rest is said', async () => {
    // A user namespace that may have no further ones, entered without capabilities.
    const place = mkdtempSync(`${root}/bare-`)
    const dir = k.makeDir(place)
    const text = k.specText('sh', ['-c', 'echo ran'], { confinement: { files: system } })
    k.writeSpec(dir, text)
    const first = spawn('unshare', ['-Ur', 'sh', '-c', `echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set=-all --inh-caps=-all ${binary} run --dir ${dir}`], { stdio: ['ignore', 'pipe', 'inherit'] })
    await new Promise((resolve) => first.stdout.on('close', resolve).resume())
    const v = await k.view(dir)
    assert.deepEqual(held((await v.hello).guarantees), ['files', 'network', 'signals', 'limits'])
    await v.attach('stdout')
    await v.request('go')
    assert.equal((await v.request('wait')).code, 0)
    await v.request('finish')
    const other = k.makeDir(place)
    k.writeSpec(other, text + 'required processes\n')
    assert.throws(() => execFileSync('unshare', ['-Ur', 'sh', '-c', `echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set=-all --inh-caps=-all ${binary} run --dir ${other}`], { stdio: 'pipe' }), { status: 125 })
    assert.equal(k.exitRecord(other).reason, 'guarantee:processes')
  })

  it('agents\' tools work inside: node, python, git, a compiler', async () => {
    const work = own(mkdtempSync(`${root}/work-`))
    const node = process.execPath
    const script = `set -e; ${node} -e 'const s=require("net").createServer(c=>c.end("served")).listen(0,"127.0.0.1",()=>require("net").connect(s.address().port,"127.0.0.1").on("data",d=>{console.log(String(d)+require("child_process").execSync("echo child"));process.exit()}))'
      python3 -c 'import subprocess,socket;print(subprocess.check_output(["echo","py"]).decode().strip(), socket.getaddrinfo("127.0.0.1",1)[0][4][0])'
      git init -q r; cd r; git -c user.name=a -c user.email=b commit -q --allow-empty -m x; git log --format=%s
      echo 'int main(){return 7;}' > a.c; gcc a.c; ./a.out || echo $?`
    const run = await running('sh', ['-c', script], { cwd: work, env: { PATH: '/usr/bin:/bin', HOME: work, TMPDIR: work }, confinement: { files: [...system, ['rwx', work], ['rox', node]] } })
    const { stdout, stderr } = await finished(run)
    assert.deepEqual([stdout, stderr], ['servedchild\n\npy 127.0.0.1\nx\n7\n', ''])
  })

  it('`probe` tells what a run would get', () => {
    const { guarantees, kernel } = JSON.parse(execFileSync(binary, ['probe'], { encoding: 'utf8' }))
    assert.deepEqual(guarantees.map((g) => g.guarantee), ['files', 'network', 'hosts', 'processes', 'signals', 'limits'])
    assert.ok(kernel.landlockAbi >= 6 && kernel.failed === null)
  })
})

const client = (port, script) => ['-c', `import socket,sys,time\ns=socket.create_connection(("127.0.0.1",${port}))\n${script}`]

describe('the front', { concurrency: 3 }, () => {
  let next = 20000 + (process.pid % 20000)
  const front = (target, more = {}) => ({ 'front-port': ++next, 'front-target': target, 'front-hold-ms': 3000, 'front-hold-max': 2, ...more })
  const walled = { confinement: { files: system } }
  for (const [place, walls] of [['inside a network namespace', walled], ['local', {}]])
    it(`passes bytes both ways with half-close, ${place}`, async () => {
      const deep = `${mkdtempSync(`${root}/front-`)}/${'long-name-'.repeat(12)}`
      mkdirSync(deep, { recursive: true })
      chmodSync(dirname(deep), 0o755)
      let seen = 0
      await listening(createServer({ allowHalfOpen: true }, (c) => c.on('data', (d) => (seen += d.length)).on('end', () => c.end(`got ${seen} `.padEnd(300_000, '.')))), `/proc/self/fd/${await import('node:fs').then((fs) => fs.openSync(deep, 'r'))}/node.sock`)
      chmodSync(`${deep}/node.sock`, 0o777)
      const options = { ...walls, ...front(`${deep}/node.sock`) }
      const run = await running('python3', client(options['front-port'], 's.sendall(b"x"*3000000)\ns.shutdown(socket.SHUT_WR)\nd=b""\nwhile True:\n  b=s.recv(65536)\n  if not b: break\n  d+=b\nprint(len(d), d[:11].decode())'), options)
      const { stdout, stderr } = await finished(run)
      assert.deepEqual([stdout, stderr], ['300000 got 3000000\n', ''])
    })

  it('holds a connection while the node is away, and serves it when it is back', async () => {
    const target = `${mkdtempSync(`${root}/front-`)}/node.sock`
    chmodSync(target.replace('/node.sock', ''), 0o755)
    const options = { ...walled, ...front(target) }
    const run = await running('python3', client(options['front-port'], 's.sendall(b"hi")\nprint(s.recv(100).decode())'), options)
    await sleep(400)
    await listening(createServer((c) => c.on('data', (d) => c.end(`echo ${d}`))), target)
    chmodSync(target, 0o777)
    assert.equal((await finished(run)).stdout, 'echo hi\n')
  })

  it('refuses after the time, and at once beyond the number', async () => {
    const options = { ...walled, ...front('/nowhere/node.sock', { 'front-hold-ms': 700 }) }
    const script = `import socket,time\nt=time.time()\nc=[socket.create_connection(("127.0.0.1",${options['front-port']})) for i in range(4)]\nr=[]\nfor s in [c[3],c[2],c[0],c[1]]:\n  try: s.recv(1); r.append("ended")\n  except ConnectionResetError: r.append("reset")\n  r.append(round(time.time()-t,1)>=0.6)\nprint(*r)`
    const { stdout } = await finished(await running('python3', ['-c', script], options))
    assert.equal(stdout, 'reset False reset False reset True reset True\n')
  })

  it('a port that is taken is a refusal', async () => {
    const taken = await listening(createServer(), { port: 0, host: '127.0.0.1' })
    const run = await launch('true', [], front('/x', { 'front-port': taken.address().port }))
    assert.equal(run.line, 'refused front:EADDRINUSE')
    assert.equal(existsSync(k.join(folder(), 'exit')), false)
    assert.equal((await shell('true')).exit.code, 0)
  })
})
