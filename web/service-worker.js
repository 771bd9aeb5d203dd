/* Keeps the files that the client's page needs to open without a network. Answers of the API are never kept. */

/* Both are filled in by the build: the paths of the files, and a hash of them. */
const SHELL = [];
const VERSION = "";

const PREFIX = "moothall-shell-";
const CACHE = PREFIX + VERSION;
const PAGE = "/app/";
const PATIENCE_MS = 5000;

self.addEventListener("install", (event) => {
  event.waitUntil(keep().then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(forgetOthers().then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== self.location.origin) {
    return;
  }
  if (request.mode === "navigate") {
    if (/^\/(?:app|channels)(?:\/|$)/.test(pathname)) {
      event.respondWith(openPage(event));
    }
  } else if (pathname.startsWith("/app/assets/") || SHELL.includes(pathname)) {
    event.respondWith(openFile(request));
  }
});

async function keep() {
  const cache = await caches.open(CACHE);
  await cache.addAll([PAGE, ...SHELL]);
}

/** Delete what earlier builds have kept. */
async function forgetOthers() {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
}

/** The page from the server, which may have a new build; the kept one where the server does not answer in time. */
async function openPage(event) {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(PAGE, { ignoreVary: true });
  const fresh = fetch(event.request).then(async (response) => {
    if (response.ok) {
      await cache.put(PAGE, response.clone());
    }
    // A proxy answers so in front of a server that is down.
    return kept !== undefined && (response.status === 502 || response.status === 504) ? kept : response;
  });
  if (kept === undefined) {
    return fresh;
  }
  event.waitUntil(fresh.catch(() => undefined));
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS, kept));
  return Promise.race([fresh.catch(() => kept), late]);
}

/** A file of the build. Those with a hash in their names never change, and are kept once they are used. */
async function openFile(request) {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(request, { ignoreVary: true });
  if (kept !== undefined) {
    return kept;
  }
  const response = await fetch(request);
  if (response.ok) {
    await cache.put(request, response.clone());
  }
  return response;
}
