import type { APIMessage } from "discord-api-types/v10";

import { getMessages } from "../../api/messages";
import { appendPage, prependPage, setPage } from "../../store/messages";
import { compareIds } from "../../store/records";
import type { Session } from "../session/session";

export const PAGE_SIZE = 50;

/** Pages being loaded, by channel, so that each is requested once. */
const loading = new Map<string, Promise<void>>();

/** Load the newest messages of a channel, unless its newest ones are loaded already. */
export async function loadNewest(session: Session, channelId: string): Promise<void> {
  const list = session.store.state.messages[channelId];
  if (list !== undefined && !list.hasNewer) {
    return;
  }
  await once(`${channelId} newest`, async () => {
    const page = await getMessages(session.api, channelId, { limit: PAGE_SIZE });
    session.store.update((state) =>
      setPage(state, channelId, page, { hasOlder: page.length === PAGE_SIZE, hasNewer: false }),
    );
  });
}

/** Load the messages around one of them. */
export async function loadAround(session: Session, channelId: string, messageId: string): Promise<void> {
  const list = session.store.state.messages[channelId];
  if (list?.messages.some((message) => message.id === messageId)) {
    return;
  }
  await once(`${channelId} ${messageId}`, async () => {
    const page = await getMessages(session.api, channelId, { around: messageId, limit: PAGE_SIZE });
    session.store.update((state) => setPage(state, channelId, page, edgesAround(page, messageId)));
  });
}

/** Whether messages exist beyond a page around an id: one half of it may be older or newer than the id. */
export function edgesAround(
  page: readonly Pick<APIMessage, "id">[],
  messageId: string,
): { hasOlder: boolean; hasNewer: boolean } {
  const newer = page.filter((message) => compareIds(message.id, messageId) > 0).length;
  // Servers count the message itself in the older or in the newer half.
  const half = Math.floor(PAGE_SIZE / 2) - 1;
  return { hasOlder: page.length - newer > half, hasNewer: newer >= half };
}

export async function loadOlder(session: Session, channelId: string): Promise<void> {
  const list = session.store.state.messages[channelId];
  const oldest = list?.messages[0];
  if (!list?.hasOlder || oldest === undefined) {
    return;
  }
  await once(`${channelId} older`, async () => {
    const page = await getMessages(session.api, channelId, { before: oldest.id, limit: PAGE_SIZE });
    session.store.update((state) => prependPage(state, channelId, page, page.length === PAGE_SIZE));
  });
}

export async function loadNewer(session: Session, channelId: string): Promise<void> {
  const list = session.store.state.messages[channelId];
  const newest = list?.messages.at(-1);
  if (!list?.hasNewer || newest === undefined) {
    return;
  }
  await once(`${channelId} newer`, async () => {
    const page = await getMessages(session.api, channelId, { after: newest.id, limit: PAGE_SIZE });
    session.store.update((state) => appendPage(state, channelId, page, page.length === PAGE_SIZE));
  });
}

/** Load a page, or wait for the same one that is being loaded. */
function once(key: string, load: () => Promise<void>): Promise<void> {
  const running = loading.get(key);
  if (running !== undefined) {
    return running;
  }
  const started = load().finally(() => loading.delete(key));
  loading.set(key, started);
  return started;
}
