import type { ApiClient } from "./client";

/** Whether there is anyone in a direct message or group whom the user may ring. */
export function getCallEligibility(api: ApiClient, channelId: string): Promise<{ ringable: boolean }> {
  return api.request("GET", `/channels/${channelId}/call`);
}

/** Ring all who are not in the call. */
export function ring(api: ApiClient, channelId: string): Promise<void> {
  return api.request("POST", `/channels/${channelId}/call/ring`, { body: {} });
}

/** Decline a call: the user is not rung any longer. */
export function stopRinging(api: ApiClient, channelId: string): Promise<void> {
  return api.request("POST", `/channels/${channelId}/call/stop-ringing`, { body: {} });
}
