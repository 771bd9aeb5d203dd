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

/** What a link to an Activity says; empty for what it does not. */
export interface ActivityLink {
  applicationId: string;
  referrerId: string;
  /** The Activity's own. */
  customId: string;
  /** The quick link whose title and image are shown. */
  linkId: string;
}

/** A link that leads others to an Activity. */
export function activityLink({ applicationId, referrerId, customId, linkId }: ActivityLink): string {
  const query = new URLSearchParams({
    ...(referrerId !== "" && { referrer_id: referrerId }),
    ...(customId !== "" && { custom_id: customId }),
    ...(linkId !== "" && { link_id: linkId }),
  });
  return `${location.origin}/activities/${applicationId}?${query.toString()}`;
}

/** The links to Activities in a text. */
export function activityLinks(content: string, origin: string): ActivityLink[] {
  const links = content.matchAll(/https?:\/\/[^\s<>)]+/g);
  return [...links].flatMap(([text]) => {
    const url = URL.parse(text);
    const match = url?.origin === origin ? /^\/activities\/(\d{1,20})\/?$/.exec(url.pathname) : null;
    return url === null || match === null ? [] : [{ applicationId: match[1] ?? "", ...readSearch(url) }];
  });
}

function readSearch({ searchParams: query }: URL): Omit<ActivityLink, "applicationId"> {
  return {
    referrerId: query.get("referrer_id") ?? "",
    customId: query.get("custom_id") ?? "",
    linkId: query.get("link_id") ?? "",
  };
}
