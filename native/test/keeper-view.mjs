// A small client of the keeper for its own tests, written from WIRE.md alone.
import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, existsSync, chownSync, constants } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'

export const TYPES = { go: 1, attach: 2, detach: 3, input: 4, closeInput: 5, inputState: 6, resize: 7, signal: 8, terminate: 9, kill: 10, wait: 11, status: 12, release: 13, finish: 14, reach: 15 }
const STREAMS = { stdout: 1, stderr: 2 }

const escape = (value) => [...Buffer.from(value)].map((b) => (b < 0x20 || b > 0x7e || b === 0x25 ? '%' + b.toString(16).padStart(2, '0') : String.fromCharCode(b))).join('')

export const defaults = { stdio: 'piped', cwd: '/', 'output-bytes': 1 << 30, 'spool-window-bytes': 1 << 30, 'go-timeout-ms': 10000, 'release-timeout-ms': 20000, confine: 0 }

/** Text of a spec. */
export function specText(command, args, options = {}) {
  const { confinement, extra = [], ...rest } = { ...defaults, ...options }
  const lines = ['version 1', `command ${escape(command)}`, ...args.map((a) => `arg ${escape(a)}`)]
  if (confinement) rest.confine = 1
  for (const [key, value] of Object.entries(rest)) lines.push(`${key} ${escape(String(value))}`)
  if (confinement) {
    const { files = [], readonly = [], network = 'none', processes = 1, unixSockets = 0, wrapper = [] } = confinement
    lines.push(`network ${network}`, `processes ${processes}`, `unix-sockets ${unixSockets}`)
    for (const [access, path] of files) lines.push(`file ${access} ${escape(path)}`)
    for (const path of readonly) lines.push(`readonly ${escape(path)}`)
    for (const word of wrapper) lines.push(`wrapper ${escape(word)}`)
  }
  return [...lines, ...extra].join('\n') + '\n'
}

export function makeDir(root, uid) {
  const dir = mkdtempSync(join(root, 'k-'))
  if (uid) chownSync(dir, uid, uid)
  return dir
}

export function writeSpec(dir, spec, { env = { PATH: '/usr/local/bin:/usr/bin:/bin' }, uid = 0 } = {}) {
  writeFileSync(join(dir, 'spec'), spec, { mode: 0o600 })
  writeFileSync(join(dir, 'env'), Object.entries(env).map(([k, v]) => `${k}=${v}\0`).join(''), { mode: 0o600 })
  if (uid) for (const name of ['spec', 'env']) chownSync(join(dir, name), uid, uid)
}

/** Starts a keeper; resolves with its line ('' when it said nothing) and the child. */
export function start(binary, dir, { uid = 0, env = {}, args = [], stdio = ['ignore', 'pipe', 'inherit'] } = {}) {
  const child = spawn(binary, ['run', '--dir', dir, ...args], { detached: true, stdio, env, ...(uid ? { uid, gid: uid } : {}) })
  child.ended = new Promise((resolve) => child.on('exit', (code, signal) => resolve({ code, signal })))
  const line = new Promise((resolve) => {
    let text = ''
    child.stdout.on('data', (bytes) => (text += bytes))
    child.stdout.on('close', () => resolve(text.trimEnd()))
  })
  return { child, line }
}

/** One connection. `request(type, body)` resolves with the parsed JSON of OK, rejects with ERR. */
export async function view(dir) {
  const fd = openSync(dir, constants.O_RDONLY | constants.O_DIRECTORY)
  const socket = connect(`/proc/self/fd/${fd}/sock`)
  await new Promise((resolve, reject) => socket.on('connect', resolve).on('error', reject)).finally(() => closeSync(fd))
  const v = { socket, pending: new Map(), streams: { 1: { chunks: [], end: null, waiters: [] }, 2: { chunks: [], end: null, waiters: [] } }, lastWord: null, tag: 0, closed: false }
  let hello
  v.hello = new Promise((resolve) => (hello = resolve))
  let buffer = Buffer.alloc(0)
  const onFrame = (type, payload) => {
    if (type === 0x80) hello(JSON.parse(payload.toString()))
    else if (type === 0x81 || type === 0x82) {
      const tag = payload.readUInt32LE(0)
      const text = payload.subarray(4).toString()
      const body = text ? JSON.parse(text) : null
      const waiter = v.pending.get(tag)
      if (!waiter) v.lastWord = body
      else if (type === 0x81) waiter.resolve(body)
      else waiter.reject(Object.assign(new Error(`${body.code}: ${body.message}`), body))
      v.pending.delete(tag)
    } else {
      const s = v.streams[payload[0]]
      const offset = Number(payload.readBigUInt64LE(1))
      if (type === 0x83) s.chunks.push({ offset, bytes: Buffer.from(payload.subarray(9)) })
      else s.end = offset
      v.onOutput?.(payload[0], s)
      if (type === 0x84) s.waiters.forEach((w) => w(s))
    }
  }
  const parts = []
  let held = 0
  socket.on('data', (data) => {
    parts.push(data)
    held += data.length
    if (buffer.length + held < 5) return
    buffer = Buffer.concat([buffer, ...parts.splice(0)])
    held = 0
    while (buffer.length >= 5 && buffer.length >= 5 + buffer.readUInt32LE(0)) {
      const size = buffer.readUInt32LE(0)
      onFrame(buffer[4], buffer.subarray(5, 5 + size))
      buffer = buffer.subarray(5 + size)
    }
  })
  v.done = new Promise((resolve) => socket.on('close', () => {
    v.closed = true
    for (const w of v.pending.values()) w.reject(Object.assign(new Error('connection closed'), { code: 'closed' }))
    resolve()
  }))
  v.request = (type, body = Buffer.alloc(0)) => {
    const tag = ++v.tag
    const head = Buffer.alloc(9)
    head.writeUInt32LE(4 + body.length, 0)
    head[4] = TYPES[type]
    head.writeUInt32LE(tag, 5)
    const answer = new Promise((resolve, reject) => v.pending.set(tag, { resolve, reject }))
    answer.catch(() => {})
    socket.write(Buffer.concat([head, body]))
    return answer
  }
  const at = (stream, offset) => {
    const body = Buffer.alloc(9)
    body[0] = STREAMS[stream]
    body.writeBigUInt64LE(BigInt(offset), 1)
    return body
  }
  v.attach = (stream, offset = 0) => v.request('attach', at(stream, offset))
  v.release = (stream, offset) => v.request('release', at(stream, offset))
  v.input = (id, bytes) => v.request('input', Buffer.concat([Buffer.from([id.length]), Buffer.from(id), Buffer.from(bytes)]))
  v.inputState = (id) => v.request('inputState', Buffer.concat([Buffer.from([id.length]), Buffer.from(id)]))
  v.signal = (name) => v.request('signal', Buffer.from(name))
  v.resize = (columns, rows) => {
    const body = Buffer.alloc(4)
    body.writeUInt16LE(columns, 0)
    body.writeUInt16LE(rows, 2)
    return v.request('resize', body)
  }
  v.reach = (port) => v.request('reach', Buffer.from([port & 255, port >> 8]))
  v.ended = (stream) => new Promise((resolve) => {
    const s = v.streams[STREAMS[stream]]
    if (s.end !== null) resolve(s)
    else s.waiters.push(resolve)
  })
  v.bytes = (stream) => Buffer.concat(v.streams[STREAMS[stream]].chunks.map((c) => c.bytes))
  v.close = () => socket.destroy()
  return v
}

export const exitRecord = (dir) => (existsSync(join(dir, 'exit')) ? JSON.parse(readFileSync(join(dir, 'exit'), 'utf8')) : null)
export const remove = (dir) => rmSync(dir, { recursive: true, force: true })
export { join, mkdirSync }
