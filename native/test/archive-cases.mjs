// Trees out and in: list, pack, unpack, remove. GNU tar and busybox are the judges of our archives, and theirs the food of unpack.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, readlinkSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { as, command, essence, list, long, names, newest, noBusybox, noGnu, oddTree, ok, place, run, shell, withoutFractions } from './bench-archive.mjs'
import { asRoot, binary, keeperEnv, rootOnly } from './bench-run.mjs'

describe('list', { concurrency: 3 }, () => {
  it('tells each entry once, with type, mode, size, times, inode and target, and follows nothing', () => {
    const dir = oddTree()
    const entries = list(dir)
    for (const [path, e] of Object.entries(entries)) {
      const s = lstatSync(Buffer.from(`${dir}/${path}`, 'latin1'), { bigint: true })
      const type = s.isFile() ? 'f' : s.isDirectory() ? 'd' : s.isSymbolicLink() ? 'l' : 'o'
      const target = type === 'l' ? readlinkSync(Buffer.from(`${dir}/${path}`, 'latin1')) : ''
      assert.deepEqual(e, { type, mode: (s.mode & 0o7777n).toString(8), size: String(s.size), mtime: e.mtime, ctime: String(s.ctimeNs), inode: String(s.ino), target }, path)
      if (s.mtimeNs >= 0n) assert.equal(e.mtime, String(s.mtimeNs))
    }
    assert.equal(Object.keys(entries).length, Number(run('find', ['.', '-mindepth', '1', '-printf', 'x'], { cwd: dir }).length))
    assert.deepEqual([entries['dirlink/file'], entries.far.target.length], [undefined, 300])
  })

  it('leaves out what it is told to, whole, and only that', () => {
    const dir = oddTree()
    const all = Object.keys(list(dir)).sort()
    assert.deepEqual(Object.keys(list(dir, '--skip', 'sub', '--skip', './closed/in')).sort(), all.filter((p) => p !== 'sub' && !p.startsWith('sub/') && p !== 'closed/in'))
    assert.deepEqual([command(['list', dir, '--skip', '../x']).code, command(['list', `${dir}/none`]).code, command(['list', `${dir}/large`]).code], [64, 3, 1])
  })

  it('names fifos and sockets, and does not open them', () => {
    const dir = place()
    shell(dir, 'mkfifo pipe')
    assert.equal(list(dir).pipe.type, 'o')
  })

  // Root reads everything.
  if (!asRoot) it('does not end as a whole list when a folder cannot be read', () => {
    const dir = place()
    shell(dir, 'mkdir shut; chmod 0 shut')
    const done = command(['list', dir])
    assert.deepEqual([done.code, done.err], [1, 'orrery-keeper: EACCES: shut\n'])
  })

  it('takes many entries in little memory', () => {
    const dir = place()
    run('python3', ['-c', 'import os\nfor d in range(20):\n  os.mkdir(str(d))\n  for f in range(1000): os.close(os.open(f"{d}/{f}",os.O_CREAT))'], { cwd: dir })
    if (process.env.KEEPER_LOGS) return
    const text = run('sh', ['-c', 'ulimit -v 40000; exec "$0" list .', binary], { cwd: dir })
    assert.equal(text.toString('latin1').split('\0').length, 20_020 * 8 + 2)
  })
})

describe('pack and unpack', { concurrency: 3 }, () => {
  it('bring a tree across as it is', () => {
    const dir = oddTree(), copy = place()
    ok(['unpack', copy], ok(['pack', dir]))
    assert.deepEqual(essence(copy), essence(dir))
    // Again, over what is there, and into a folder that is made.
    ok(['unpack', copy], ok(['pack', dir]))
    ok(['unpack', `${copy}/made`, '--make'], ok(['pack', dir]))
    assert.deepEqual(essence(`${copy}/made`), essence(dir))
  })

  it('our archives are read by GNU tar', { skip: noGnu }, () => {
    const dir = oddTree(), copy = place()
    run('tar', ['-xpf', '-', '-C', copy, '--warning=all'], { input: ok(['pack', dir]) })
    assert.deepEqual(essence(copy), essence(dir))
  })

  it('and by busybox, to the second', { skip: noBusybox }, () => {
    const dir = oddTree(), copy = place()
    shell(dir, 'touch -d 2001-01-01 sub/file; chmod 700 closed')
    run('busybox', ['tar', '-xpf', '-', '-C', copy], { input: ok(['pack', dir]) })
    // It sets no times of links, and those of folders before they are filled.
    const compared = (tree) => Object.fromEntries(Object.entries(withoutFractions(tree)).map(([path, e]) => [path, e.type === 'f' ? e : { ...e, mtime: '' }]))
    assert.deepEqual(compared(essence(copy)), compared(essence(dir)))
  })

  for (const format of ['gnu', 'pax', 'ustar', 'v7'])
    it(`GNU tar's ${format} archives are read`, { skip: noGnu }, () => {
      const dir = oddTree(), copy = place()
      if (format === 'ustar' || format === 'v7') shell(dir, `chmod -R u+w .; rm -r ${long(200)} far sub/${long(250)}; touch -d 2001-01-01 sub/file`)
      if (format === 'ustar' || format === 'v7') shell(dir, `rm ${long(100)} ${long(101)}`)
      if (format === 'v7') shell(dir, `rm sub/${long(98)}`)
      ok(['unpack', copy], run('tar', [`--format=${format}`, '-cf', '-', '-C', dir, '.']))
      const same = format === 'pax' ? (tree) => tree : withoutFractions
      const cut = (tree) => Object.fromEntries(Object.entries(same(tree)).map(([path, e]) => [path, { ...e, mtime: e.mtime.startsWith('-') ? 'before' : e.mtime }]))
      assert.deepEqual(cut(essence(copy)), cut(essence(dir)))
    })

  it('busybox\' archives are read', { skip: noBusybox }, () => {
    const dir = place(), copy = place()
    shell(dir, `mkdir a; echo x > a/b; echo y > ${long(150)}; ln -s a l; touch -h -d 2001-01-01 a/b a l`)
    ok(['unpack', copy], run('busybox', ['tar', '-cf', '-', '-C', dir, '.']))
    assert.deepEqual(withoutFractions(essence(copy)), withoutFractions(essence(dir)))
  })

  it('hard links of an archive become hard links; packed they are copies', { skip: noGnu }, () => {
    const dir = place(), copy = place(), other = place()
    shell(dir, 'echo x > a; ln a b')
    ok(['unpack', copy], run('tar', ['-cf', '-', '-C', dir, 'a', 'b']))
    assert.equal(lstatSync(`${copy}/a`).ino, lstatSync(`${copy}/b`).ino)
    ok(['unpack', other], ok(['pack', dir]))
    assert.notEqual(lstatSync(`${other}/a`).ino, lstatSync(`${other}/b`).ino)
  })

  it('packs what is asked for: an entry alone, with a slash all below it', () => {
    const dir = oddTree(), copy = place()
    shell(dir, 'touch -h -d 2002-02-02 closed')
    ok(['unpack', copy], ok(['pack', dir, '--from-stdin'], names('sub', './closed/', 'link', 'empty')))
    const wanted = Object.fromEntries(Object.entries(essence(dir)).filter(([path]) => ['sub', 'closed', 'closed/in', 'link', 'empty'].includes(path)))
    assert.deepEqual(essence(copy), wanted)
    assert.equal(command(['pack', dir, '--from-stdin'], names('none')).err, 'gone: none\n')
    assert.equal(command(['pack', dir, '--from-stdin'], names('dirlink/file')).err, 'gone: dirlink/file\n')
    for (const bad of [names('../x'), names('/etc/passwd'), names(''), Buffer.from('unended')]) assert.equal(command(['pack', dir, '--from-stdin'], bad).code, 8)
  })

  it('leaves fifos and sockets out, and says so', () => {
    const dir = place(), copy = place()
    shell(dir, 'mkfifo pipe; echo x > file')
    const done = command(['pack', dir])
    assert.deepEqual([done.code, done.err], [0, 'left out: pipe\n'])
    ok(['unpack', copy], done.out)
    assert.deepEqual(Object.keys(list(copy)), ['file'])
  })

  it('a file that shrinks or grows while it is read leaves the archive whole', async () => {
    for (const size of [1000, 3 << 20]) {
      const dir = place(), copy = place()
      run('python3', ['-c', `open("a","wb").truncate(${2 << 20}); open("b","w").write("b")`], { cwd: dir })
      const child = spawn(binary, ['pack', dir, '--from-stdin'], { env: keeperEnv, stdio: ['pipe', 'pipe', 'pipe'], ...as })
      const parts = []
      // What fits into the pipe is read; the rest after the change.
      await new Promise((resolve) => (child.stdout.once('readable', resolve), child.stdin.write(names('a'))))
      truncateSync(`${dir}/a`, size)
      child.stdout.on('data', (d) => parts.push(d))
      child.stdin.end(names('b'))
      await new Promise((resolve) => child.on('close', resolve))
      ok(['unpack', copy], Buffer.concat(parts))
      assert.deepEqual([list(copy).a.size, readFileSync(`${copy}/b`, 'utf8')], [String(2 << 20), 'b'])
    }
  })

  it('sizes beyond 8 GiB are told so that ours and GNU tar\'s readers know them', { skip: noGnu }, () => {
    const dir = place()
    const size = 9 * 2 ** 30
    run('python3', ['-c', `open("huge","wb").truncate(${size})`], { cwd: dir })
    const seen = execFileSync('sh', ['-c', '"$0" pack "$1" 2>/dev/null | head -c 4096 | tar -tvf - 2>/dev/null || true', binary, dir], { env: { ...process.env, ...keeperEnv, LC_ALL: 'C' } })
    assert.match(seen.toString(), new RegExp(` ${size} `))
    const copy = place()
    const cut = execFileSync('sh', ['-c', '"$0" pack "$1" 2>/dev/null | head -c 1000000 | "$0" unpack "$2" 2>&1 || true', binary, dir, copy], { env: { ...process.env, ...keeperEnv }, ...as })
    assert.match(cut.toString(), /^orrery-keeper: bad-archive: it ends within a file\n$/)
  })

  it('replaces whatever is in the way, and keeps what it is not told about', () => {
    const from = place(), dir = place()
    shell(from, 'mkdir folder; echo 1 > folder/f; echo 2 > file; ln -s elsewhere link; mkdir both; echo n > both/new')
    shell(dir, 'echo x > folder; mkdir -p file/deep/er; touch file/deep/er/f; mkdir link; echo y > link/y; mkdir both; echo o > both/old; chmod 500 both; echo keep > kept')
    ok(['unpack', dir], ok(['pack', from]))
    assert.deepEqual(Object.entries(list(dir)).map(([p, e]) => `${e.type} ${p}`).sort(), ['d both', 'd folder', 'f both/new', 'f both/old', 'f file', 'f folder/f', 'f kept', 'l link'])
  })

  it('deletes first what stands before the archive', () => {
    const from = place(), dir = place()
    shell(from, 'echo new > a')
    shell(dir, 'mkdir -p gone/deep; touch gone/deep/x; ln -s / out; echo k > kept')
    ok(['unpack', dir, '--delete-stdin-first'], Buffer.concat([names('gone', 'never-there', 'out/etc/hostname', ''), ok(['pack', from])]))
    assert.deepEqual(readdirSync(dir).sort(), ['a', 'kept', 'out'])
    assert.equal(command(['unpack', dir, '--delete-stdin-first'], names('a')).code, 8)
  })

  it('sets no special bits unless asked to', { skip: noGnu }, () => {
    const from = place(), dir = place()
    shell(from, 'echo x > s; chmod 4755 s; mkdir t; chmod 1777 t')
    const archive = ok(['pack', from])
    ok(['unpack', dir], archive)
    assert.deepEqual([list(dir).s.mode, list(dir).t.mode], ['755', '777'])
    ok(['unpack', dir, '--keep-special'], archive)
    assert.deepEqual([list(dir).s.mode, list(dir).t.mode], ['4755', '1777'])
  })

  rootOnly('gives what it makes to an owner, and nothing else', () => {
    const from = place(), dir = place()
    shell(from, 'mkdir -p a/b; echo x > a/b/f; ln -s x l; mkdir old')
    mkdirSync(`${dir}/old`)
    ok(['unpack', dir, '--owner', '1234:4321'], ok(['pack', from]))
    const owners = Object.keys(list(dir)).sort().map((path) => `${path} ${lstatSync(`${dir}/${path}`).uid}:${lstatSync(`${dir}/${path}`).gid}`)
    assert.deepEqual(owners, ['a 1234:4321', 'a/b 1234:4321', 'a/b/f 1234:4321', 'l 1234:4321', 'old 0:0'])
  })
})

describe('remove', { concurrency: 3 }, () => {
  it('takes paths with all below them, through no link, and is content when they are not there', () => {
    const dir = oddTree(), outside = place()
    writeFileSync(`${outside}/file`, 'x')
    symlinkSync(outside, `${dir}/out`)
    ok(['remove', dir, '--from-stdin'], names('sub', 'closed', 'none', 'out/file', 'link', 'link'))
    assert.deepEqual([existsSync(`${dir}/sub`), existsSync(`${dir}/closed`), existsSync(`${outside}/file`), existsSync(`${dir}/large`)], [false, false, true, true])
    ok(['remove', dir, '--from-stdin'], names('out'))
    assert.deepEqual([existsSync(`${dir}/out`), existsSync(`${outside}/file`)], [false, true])
    for (const bad of ['../x', '/etc', '.', 'a/../..']) assert.equal(command(['remove', dir, '--from-stdin'], names(bad)).code, 8)
    ok(['remove', dir])
    assert.equal(existsSync(dir), false)
    ok(['remove', dir])
  })

  it('takes trees away that are too deep to be listed', () => {
    const dir = place()
    run('python3', ['-c', 'import os\nfor t in ("one","two"):\n  os.mkdir(t); os.chdir(t)\n  for i in range(3000): os.mkdir("d"); os.chdir("d")\n  open("f","w").close()\n  for i in range(3001): os.chdir("..")'], { cwd: dir })
    const listed = command(['list', dir])
    assert.deepEqual([listed.code, /ENAMETOOLONG/.test(listed.err)], [1, true])
    ok(['remove', dir, '--from-stdin'], names('one/d/d', 'two'))
    assert.deepEqual(Object.keys(list(dir)).sort(), ['one', 'one/d'])
  })

  it('takes a whole folder with closed ones and deep ones in it, but not what a link leads to', () => {
    const outside = place(), dir = `${place()}/whole`
    writeFileSync(`${outside}/file`, 'x')
    shell(newest, `mkdir whole; cd whole; mkdir -p a/b/c; chmod 0 a/b; ln -s ${outside} a/out; i=0; while [ $i -lt 400 ]; do mkdir d; cd d; i=$((i+1)); done`)
    symlinkSync(outside, `${newest}/link`)
    assert.equal(command(['remove', `${newest}/link/`]).code, 1)
    ok(['remove', `${dir}/`])
    assert.deepEqual([existsSync(dir), existsSync(`${outside}/file`)], [false, true])
  })
})
