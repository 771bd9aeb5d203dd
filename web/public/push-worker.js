/* Shows the notifications that the server pushes, also while no page of the client is open. */

const FALLBACKS = { de: "Neue Nachricht", en: "New message" };

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("push", (event) => {
  const { title, body, tag, url } = event.data?.json() ?? {};
  const language = self.navigator.language.split("-")[0];
  event.waitUntil(
    self.registration.showNotification(title || "Moothall", {
      body: body || FALLBACKS[language] || FALLBACKS.en,
      tag,
      renotify: tag !== undefined,
      icon: "/icon-192.png",
      data: { url },
    }),
  );
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const url = new URL(event.notification.data?.url ?? "/app/", self.location.origin);
  if (url.origin === self.location.origin) {
    event.waitUntil(open(url.href));
  }
});

/** Show a page of the client: one that is open there, else a new one. */
async function open(url) {
  const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const page = pages.find((each) => each.url === url);
  return page === undefined ? self.clients.openWindow(url) : page.focus();
}
