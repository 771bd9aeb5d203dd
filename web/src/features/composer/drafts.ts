/** Unsent texts, by channel. They stay on the device. */
const PREFIX = "moothall.draft.";

export function readDraft(channelId: string, storage: Storage = localStorage): string {
  return storage.getItem(PREFIX + channelId) ?? "";
}

export function writeDraft(channelId: string, text: string, storage: Storage = localStorage): void {
  if (text === "") {
    storage.removeItem(PREFIX + channelId);
  } else {
    storage.setItem(PREFIX + channelId, text);
  }
}
