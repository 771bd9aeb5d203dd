import type { ApiClient } from "./client";

export interface PushSubscriptionEntry {
  id: string;
  host: string;
  /** Whether this login has subscribed. */
  current: boolean;
}

export interface PushState {
  /** Null where the operator has set no key. */
  public_key: string | null;
  subscriptions: PushSubscriptionEntry[];
}

/** The server's key, and the user's subscriptions. */
export function listPushSubscriptions(api: ApiClient): Promise<PushState> {
  return api.request("GET", "/users/@me/push-subscriptions");
}

/** Let the server notify a browser. */
export function createPushSubscription(
  api: ApiClient,
  subscription: PushSubscriptionJSON,
): Promise<PushSubscriptionEntry> {
  return api.request("POST", "/users/@me/push-subscriptions", {
    body: { endpoint: subscription.endpoint, keys: subscription.keys },
  });
}

export function deletePushSubscription(api: ApiClient, id: string): Promise<void> {
  return api.request("DELETE", `/users/@me/push-subscriptions/${id}`);
}
