import type { APIMessage, APIStickerItem } from "discord-api-types/v10";

import { ALL_MENTIONS } from "../../api/enums";
import { ApiError, NetworkError } from "../../api/errors";
import { createMessage } from "../../api/messages";
import { makeNonce } from "../../api/nonce";
import { addMessage } from "../../store/messages";
import type { PendingMessage } from "../../store/state";
import type { Store } from "../../store/store";
import type { Session } from "../session/session";
import { sentName, type Upload } from "../attachments/uploads";

const RETRY_MS = 2_000;

/** What the composer sends. */
export interface Outgoing {
  channelId: string;
  content: string;
  uploads: readonly Upload[];
  replyTo: APIMessage | null;
  /** Whether a reply notifies the author of the message that it replies to; by default it does. */
  notifiesAuthor?: boolean;
  stickers?: readonly APIStickerItem[];
}

/** Files of pending messages, by nonce: they are no part of the state. */
const pendingUploads = new Map<string, readonly Upload[]>();

/** Stops the uploads of pending messages, by nonce. */
const pendingAborts = new Map<string, AbortController>();

/**
 * Show a message at once and send it. Without a connection it waits and is sent again: its nonce makes the server
 * accept it once, whatever was lost. A refusal stays with the message, to try again or to discard.
 */
export async function sendMessage(session: Session, outgoing: Outgoing): Promise<void> {
  const pending: PendingMessage = {
    nonce: makeNonce(),
    channelId: outgoing.channelId,
    content: outgoing.content,
    fileNames: outgoing.uploads.map(({ file }) => file.name),
    replyTo: outgoing.replyTo,
    notifiesAuthor: outgoing.notifiesAuthor ?? true,
    stickers: outgoing.stickers ?? [],
    createdAt: Date.now(),
    progress: 0,
    failure: null,
  };
  pendingUploads.set(pending.nonce, outgoing.uploads);
  session.store.update((state) => ({ ...state, pending: [...state.pending, pending] }));
  await deliver(session, pending);
}

/** Send a message again that was refused. */
export async function retryMessage(session: Session, pending: PendingMessage): Promise<void> {
  patchPending(session.store, pending.nonce, { failure: null, progress: 0 });
  await deliver(session, pending);
}

/** Give a message up, also while its files are being uploaded. */
export function discardMessage(store: Store, nonce: string): void {
  pendingAborts.get(nonce)?.abort();
  pendingUploads.delete(nonce);
  store.update((state) => ({ ...state, pending: state.pending.filter((each) => each.nonce !== nonce) }));
}

async function deliver(session: Session, pending: PendingMessage): Promise<void> {
  const { api, store } = session;
  const uploads = pendingUploads.get(pending.nonce) ?? [];
  const files = uploads.map((upload) => renamed(upload.file, sentName(upload)));
  const abort = new AbortController();
  pendingAborts.set(pending.nonce, abort);
  const body = {
    content: pending.content,
    nonce: pending.nonce,
    enforce_nonce: true,
    ...(pending.replyTo && { message_reference: { message_id: pending.replyTo.id } }),
    ...(!pending.notifiesAuthor && { allowed_mentions: { parse: ALL_MENTIONS, replied_user: false } }),
    ...(pending.stickers.length > 0 && { sticker_ids: pending.stickers.map((each) => each.id) as [string] }),
    ...(uploads.length > 0 && { attachments: uploads.map(attachmentOf) }),
  };
  for (;;) {
    try {
      const message = await createMessage(api, pending.channelId, body, {
        signal: abort.signal,
        ...(files.length > 0 && {
          files,
          onProgress: (progress: number) => patchPending(store, pending.nonce, { progress }),
        }),
      });
      pendingUploads.delete(pending.nonce);
      pendingAborts.delete(pending.nonce);
      // The response and the event may come in any order; the message is added once.
      store.update((state) => addMessage(state, { ...message, nonce: pending.nonce }));
      return;
    } catch (error) {
      if (abort.signal.aborted) {
        pendingAborts.delete(pending.nonce);
        return;
      }
      if (!(error instanceof NetworkError)) {
        patchPending(store, pending.nonce, {
          failure: { message: error instanceof ApiError ? error.reason : String(error) },
        });
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      if (!store.state.pending.some((each) => each.nonce === pending.nonce)) {
        return;
      }
    }
  }
}

function patchPending(store: Store, nonce: string, fields: Partial<PendingMessage>): void {
  store.update((state) => ({
    ...state,
    pending: state.pending.map((each) => (each.nonce === nonce ? { ...each, ...fields } : each)),
  }));
}

function renamed(file: File, name: string): File {
  return file.name === name ? file : new File([file], name, { type: file.type });
}

function attachmentOf(upload: Upload, index: number) {
  return {
    id: String(index),
    filename: sentName(upload),
    ...(upload.description !== "" && { description: upload.description }),
    ...(upload.spoiler && { is_spoiler: true }),
  };
}
