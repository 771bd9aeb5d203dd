import type { ApiClient } from "../../api/client";
import { createPushSubscription, deletePushSubscription, listPushSubscriptions } from "../../api/push";
import { trustedScript } from "../../gateway/trustedScripts";

const WORKER = "/app/push-worker.js";
/** No page is below it: the worker only receives pushes, and leaves requests of pages alone. */
const SCOPE = "/app/push/";

/** Whether this browser has what Web Push needs. */
export function isPushSupported(): boolean {
  return "serviceWorker" in navigator && "PushManager" in globalThis && "Notification" in globalThis;
}

/** Subscribe this browser; asks for permission to notify first, which browsers allow only while handling a press. */
export async function subscribeToPush(api: ApiClient, publicKey: string): Promise<void> {
  if ((await Notification.requestPermission()) !== "granted") {
    throw new PushDenied();
  }
  const registration = await navigator.serviceWorker.register(trustedScript(WORKER), { scope: SCOPE });
  await activated(registration);
  // A subscription with another key of the server cannot be changed, only replaced.
  await (await registration.pushManager.getSubscription())?.unsubscribe();
  const subscription = await registration.pushManager.subscribe({
    userVisibleOnly: true,
    applicationServerKey: publicKey,
  });
  await createPushSubscription(api, subscription.toJSON());
}

/** End the subscription of this browser, here and at the server. */
export async function unsubscribeFromPush(api: ApiClient): Promise<void> {
  const { subscriptions } = await listPushSubscriptions(api);
  await Promise.all(
    subscriptions.filter((each) => each.current).map((each) => deletePushSubscription(api, each.id)),
  );
  const registration = await navigator.serviceWorker.getRegistration(SCOPE);
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
}

/** The browser's user does not want notifications of this server. */
export class PushDenied extends Error {}

async function activated(registration: ServiceWorkerRegistration): Promise<void> {
  const worker = registration.installing ?? registration.waiting;
  if (registration.active !== null || worker === null) {
    return;
  }
  await new Promise<void>((resolve) => {
    worker.addEventListener("statechange", () => {
      if (worker.state === "activated") {
        resolve();
      }
    });
  });
}
