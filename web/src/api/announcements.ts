import type { ApiClient } from "./client";

/** Words of the operators to everyone. */
export interface Announcement {
  id: string;
  content: string;
  urgent: boolean;
  ends_at: string;
}

export function listAnnouncements(api: ApiClient): Promise<Announcement[]> {
  return api.request("GET", "/announcements");
}
