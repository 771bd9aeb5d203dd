export type NotificationAccess = NotificationPermission | "unsupported";

/** Whether this page may show notifications. */
export function permission(): NotificationAccess {
  return "Notification" in globalThis ? Notification.permission : "unsupported";
}

/** Ask the browser's user; browsers allow this only while handling a press. */
export async function requestPermission(): Promise<NotificationAccess> {
  return "Notification" in globalThis ? Notification.requestPermission() : "unsupported";
}
