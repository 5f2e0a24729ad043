// Keeps the shell of the client, so that its window opens while the node is away: the page and the files that it names.
// What the API says is never kept, and nothing of a request is: neither cookies nor what stands behind a question mark.

const SHELL = 'orrery-shell-1';
/** Files of the shell that are kept; of more, the oldest go. */
const MAX_FILES = 64;

const isFile = (path) => path.startsWith('/assets/') || path.startsWith('/icon');

const keep = async (path, answer) => {
  const shell = await caches.open(SHELL);
  await shell.delete(path);
  await shell.put(path, answer);
  const kept = await shell.keys();
  for (const old of kept.slice(0, Math.max(0, kept.length - MAX_FILES))) await shell.delete(old);
};

/** Every page is the same page. */
const page = async (request) => {
  try {
    const answer = await fetch(request);
    if (answer.ok && answer.type === 'basic') await keep('/', answer.clone());
    return answer;
  } catch (fault) {
    const kept = await caches.match('/', { cacheName: SHELL });
    if (kept === undefined) throw fault;
    return kept;
  }
};

/** A file's name changes with its content. */
const file = async (request, path) => {
  const kept = await caches.match(path, { cacheName: SHELL });
  if (kept !== undefined && path.startsWith('/assets/')) return kept;
  try {
    const answer = await fetch(request);
    // A name that is gone is answered with the page.
    if (answer.ok && !answer.headers.get('content-type')?.startsWith('text/html')) await keep(path, answer.clone());
    return answer;
  } catch (fault) {
    if (kept === undefined) throw fault;
    return kept;
  }
};

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) =>
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter((name) => name !== SHELL).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  ),
);
self.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== self.location.origin || pathname.startsWith('/api/')) return;
  if (request.mode === 'navigate') event.respondWith(page(request));
  else if (isFile(pathname)) event.respondWith(file(request, pathname));
});
// What the node says by push: a title, and nothing that was said in a session.
self.addEventListener('push', (event) => {
  let title = 'Something needs you';
  try {
    title = String(event.data.json().title).slice(0, 200);
  } catch {
    // A message that is not the node's own says no more than that.
  }
  event.waitUntil(self.registration.showNotification(title, { tag: title, icon: '/icon-192.png', badge: '/icon-192.png' }));
});
// A notification leads to what waits.
self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(
    self.clients.matchAll({ type: 'window' }).then(async (windows) => {
      const [first] = windows;
      if (first === undefined) return self.clients.openWindow('/');
      await first.focus();
      first.postMessage('inbox');
    }),
  );
});
