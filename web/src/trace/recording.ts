import type { APIMessage } from "discord-api-types/v10";

/** One thing that happened in a test: a line of its transcript. */
export interface Entry {
  number: number;
  at: string;
  kind: string;
  actor?: string;
  name?: string;
  method?: string;
  path?: string;
  status?: number;
  text?: string;
  sent?: unknown;
  data?: unknown;
  /** All of it in a line: the time, the kind, who and what. */
  line: string;
}

/** A dispatch that a person's client received. */
export interface Frame {
  /** The number of the newest entry at that time. */
  after: number;
  name: string;
  data: unknown;
}

/** What a person's client knows. */
export interface View {
  name: string;
  user_id: string;
  frames: readonly Frame[];
  /** The messages at the beginning by channel, the newest first. */
  messages: Readonly<Record<string, readonly APIMessage[]>>;
}

/** What the test server writes into the page of a test. */
export interface Recording {
  title: string;
  outcome: string;
  url: string;
  entries: readonly Entry[];
  views: readonly View[];
}

/** The part of an entry's line that follows the time and the kind, without the ends of tokens. */
export function whatOf(entry: Entry): string {
  const what = entry.line.slice(15).trimStart().slice(entry.kind.length).trim();
  return what.replace(/([\w-]{8})[\w-]{32,}/g, "$1…");
}

/** The channel that an entry is about; null where it is about none. */
export function channelOf(entry: Entry): string | null {
  const named = (entry.data as { channel_id?: unknown } | undefined)?.channel_id;
  if (typeof named === "string") {
    return named;
  }
  const sent = (entry.sent as { channel_id?: unknown } | undefined)?.channel_id;
  if (typeof sent === "string") {
    return sent;
  }
  return /^\/channels\/(\d+)/.exec(entry.path ?? "")?.[1] ?? null;
}

/** Read the recording, whose addresses of files lead to those that were kept beside the page. */
export function readRecording(json: string, pageUrl: string): Recording {
  const { url } = JSON.parse(json) as Recording;
  const files = new URL("files/attachments/", pageUrl).href;
  return JSON.parse(json.replaceAll(`${url}/attachments/`, () => files)) as Recording;
}
