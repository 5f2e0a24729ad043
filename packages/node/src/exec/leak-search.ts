/**
 * The program that searches from inside an environment, as text for `node -e`. It reads what to search for from stdin, so
 * that it holds none of it where it looks: `{"canaries":[{"name","forms":[{form,pattern}]}],"roots":[…],"first":pid,"maxFiles":n,"maxBytes":n,"maxMemory":n}`. Memory is read of the
 * process `first` (the node) before all others, up to `maxMemory` bytes in all.
 * It prints one JSON object a line: `{"where","at","canary","form"}` for a find, `{"looked":{…}}` at the end.
 */
export const LEAK_SEARCH = String.raw`
const fs = require('node:fs');
const { canaries, roots, first, maxFiles, maxBytes, maxMemory } = JSON.parse(fs.readFileSync(0, 'utf8'));
const looked = { variables: 0, processes: 0, memory: 0, files: 0, links: 0 };
const say = (value) => fs.writeSync(1, JSON.stringify(value) + '\n');
const seen = new Set();
const search = (where, at, text) => {
  for (const { name, forms } of canaries) for (const { form, pattern } of forms) {
    if (!text.includes(pattern)) continue;
    const key = [where, at, name, form].join(' ');
    if (!seen.has(key)) { seen.add(key); say({ where, at, canary: name, form }); }
  }
};
const attempt = (work) => { try { work(); } catch {} };
const readSome = (path, limit) => {
  const fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK | fs.constants.O_NOFOLLOW);
  try {
    const bytes = Buffer.alloc(limit);
    let size = 0;
    for (let n; size < limit && (n = fs.readSync(fd, bytes, size, limit - size, null)) > 0; ) size += n;
    return bytes.subarray(0, size).toString('latin1');
  } finally { fs.closeSync(fd); }
};
for (const [name, value] of Object.entries(process.env)) { looked.variables++; search('environment', name, name + '=' + value); }
search('arguments', 'argv', process.argv.join('\0') + process.execArgv.join('\0'));
let left = maxMemory;
const readMemory = (pid) => {
  const ranges = readSome('/proc/' + pid + '/maps', 4 << 20).split('\n').map((line) => /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line)).filter(Boolean);
  const fd = fs.openSync('/proc/' + pid + '/mem', 'r');
  try {
    for (const [, from, to] of ranges) {
      const start = BigInt('0x' + from), size = Math.min(Number(BigInt('0x' + to) - start), 16 << 20, left);
      if (size <= 0) break;
      const bytes = Buffer.alloc(size);
      attempt(() => { fs.readSync(fd, bytes, 0, size, start); left -= size; search('process table', 'mem', bytes.toString('latin1')); });
    }
    looked.memory++;
  } finally { fs.closeSync(fd); }
};
// The /proc that is seen may count processes otherwise than the program's own pid namespace does.
let self = String(process.pid);
attempt(() => { self = fs.readlinkSync('/proc/self'); });
const others = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== self);
for (const pid of others.sort((a, b) => (Number(b) === first) - (Number(a) === first))) {
  looked.processes++;
  for (const name of ['environ', 'cmdline', 'maps', 'comm', 'status']) attempt(() => search('process table', name, readSome('/proc/' + pid + '/' + name, 4 << 20)));
  attempt(() => readMemory(pid));
  attempt(() => { for (const fd of fs.readdirSync('/proc/' + pid + '/fd')) attempt(() => search('process table', 'fd', fs.readlinkSync('/proc/' + pid + '/fd/' + fd))); });
}
const walk = (dir) => {
  let entries = [];
  attempt(() => { entries = fs.readdirSync(dir, { withFileTypes: true }); });
  for (const entry of entries) {
    if (looked.files >= maxFiles) return;
    const path = dir + '/' + entry.name;
    attempt(() => search('files', 'name', entry.name));
    if (entry.isSymbolicLink()) { looked.links++; attempt(() => search('files', path, fs.readlinkSync(path))); }
    else if (entry.isDirectory()) walk(path);
    else if (entry.isFile()) { looked.files++; attempt(() => search('files', path, readSome(path, maxBytes))); }
  }
};
for (const root of roots) walk(root);
say({ looked });
`;
