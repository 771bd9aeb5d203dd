import { getVoiceStatus, subscribeVoiceStatus } from "../../voice/status";

/** An event of the SDK about a user who speaks. */
interface Speaking {
  channel_id: string;
  user_id: string;
}

const NO_ONE: ReadonlySet<string> = new Set();

/**
 * Dispatch who begins and who ends speaking in a channel, as far as this page hears it: `isHere` tells whether the user
 * is in that voice channel. Returns a function that ends it.
 */
export function followSpeaking(
  channelId: string,
  isHere: () => boolean,
  emit: (event: "SPEAKING_START" | "SPEAKING_STOP", data: Speaking) => void,
): () => void {
  let before = NO_ONE;
  const update = () => {
    const after = isHere() ? getVoiceStatus().speaking : NO_ONE;
    if (after === before) {
      return;
    }
    const started = [...after].filter((id) => !before.has(id));
    const stopped = [...before].filter((id) => !after.has(id));
    before = after;
    for (const id of stopped) {
      emit("SPEAKING_STOP", { channel_id: channelId, user_id: id });
    }
    for (const id of started) {
      emit("SPEAKING_START", { channel_id: channelId, user_id: id });
    }
  };
  update();
  return subscribeVoiceStatus(update);
}
