import process from 'node:process';

/** A development server as projects have them: a page, a counter of what it was asked, and a WebSocket that says everything back. */
const program = `
const { createHash } = require('node:crypto');
let hits = 0;
const server = require('node:http').createServer((request, response) => {
  if (request.url === '/hits') return response.end(String(hits));
  if (request.url === '/heard') return response.end(JSON.stringify(request.headers));
  if (request.url === '/upload') { let size = 0; request.on('data', (d) => (size += d.length)).on('end', () => response.end(String(size))); return; }
  hits += request.url === '/' ? 1 : 0;
  response.setHeader('content-type', 'text/html');
  response.setHeader('set-cookie', 'theirs=1; Domain=localhost');
  response.end('<!doctype html><title>NAME</title>');
});
server.on('upgrade', (request, socket) => {
  const key = request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: ' + createHash('sha1').update(key).digest('base64') + '\\r\\n\\r\\n');
  socket.on('error', () => socket.destroy()).on('data', (frame) => {
    if ((frame[0] & 15) === 8) return socket.end(Buffer.from([0x88, 0]));
    const length = frame[1] & 127, mask = frame.subarray(2, 6);
    const text = Buffer.from(frame.subarray(6, 6 + length).map((byte, index) => byte ^ mask[index % 4]));
    socket.write(Buffer.concat([Buffer.from([0x81, length]), text]));
  });
});
server.listen(PORT, '127.0.0.1', function () { console.log('port ' + this.address().port + '.'); });
`;

/** A shell script that runs it under a name. Port 0: any that is free. */
export const devServer = (name: string, port = 0): string =>
  `cat > dev.cjs <<'END'\n${program.replace('NAME', name).replace('PORT', String(port))}END\nexec '${process.execPath}' dev.cjs`;
