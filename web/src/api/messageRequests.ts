import type { APIChannel, APIMessage } from "discord-api-types/v10";

import type { ApiClient } from "./client";

const ACCEPTED = 2;
const MAX_IDS = 25;

export interface MessageRequestPreview {
  channel_id: string;
  message_preview: APIMessage | null;
}

/** The first messages of message requests. */
export async function getRequestPreviews(
  api: ApiClient,
  channelIds: readonly string[],
): Promise<MessageRequestPreview[]> {
  const pages: MessageRequestPreview[] = [];
  for (let from = 0; from < channelIds.length; from += MAX_IDS) {
    const query = channelIds
      .slice(from, from + MAX_IDS)
      .map((id) => `channel_ids=${id}`)
      .join("&");
    pages.push(
      ...(await api.request<MessageRequestPreview[]>(
        "GET",
        `/users/@me/message-requests/supplemental-data?${query}`,
      )),
    );
  }
  return pages;
}

export function acceptRequest(api: ApiClient, channelId: string): Promise<APIChannel> {
  return api.request("PUT", `/channels/${channelId}/recipients/@me`, { body: { consent_status: ACCEPTED } });
}

/** Reject a message request: it is closed, and its sender cannot write again. They are not told. */
export function ignoreRequest(api: ApiClient, channelId: string): Promise<APIChannel> {
  return api.request("DELETE", `/channels/${channelId}/recipients/@me`);
}
