import { useSyncExternalStore } from "react";

/** An Activity to launch in a channel, by a link or an invite. */
export interface Launch {
  applicationId: string;
  channelId: string;
  /** What the link that led here says; empty for none. */
  referrerId: string;
  customId: string;
}

const listeners = new Set<() => void>();
let requested: Launch | null = null;
/** What led to the Activities that were launched in this window, by application. */
const origins = new Map<string, Launch>();

/** Launch an Activity as soon as the client can, or none with null. */
export function requestLaunch(launch: Launch | null): void {
  requested = launch;
  if (launch !== null) {
    origins.set(launch.applicationId, launch);
  }
  for (const listener of listeners) {
    listener();
  }
}

export function useRequestedLaunch(): Launch | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => requested,
  );
}

/** The link by which an Activity was launched in a channel, as the parameters of its page; none without one. */
export function launchParameters(applicationId: string, channelId: string): Record<string, string> {
  const launch = origins.get(applicationId);
  if (launch?.channelId !== channelId) {
    return {};
  }
  return {
    ...(launch.referrerId !== "" && { referrer_id: launch.referrerId }),
    ...(launch.customId !== "" && { custom_id: launch.customId }),
  };
}

/** A link that leads others to an Activity. `customId` is the Activity's own; empty for none. */
export function activityLink(applicationId: string, referrerId: string, customId: string): string {
  const path = [applicationId, referrerId, ...(customId === "" ? [] : [customId])];
  return `${location.origin}/app/activities/${path.map(encodeURIComponent).join("/")}`;
}
