import type { GatewayConnection } from "../gateway/connection";
import type { Store } from "../store/store";
import { guildOfVoice, ownVoiceState } from "../store/voice";
import type { Place } from "./place";
import { getVoiceStatus, subscribeVoiceStatus } from "./status";

/** How long lies between two changes that the gateway is told of: it ends the session of who tells too much. */
const TELL_MS = 600;

/** Tells the gateway where the user is, whether they have muted or deafened themselves, and whether they show a camera. */
export class ChoiceTeller {
  private chosen = getVoiceStatus();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private toldAt = 0;
  private readonly unsubscribe: () => void;

  /** `placeOf` returns where the user is; `onChoice` is called at once when they choose something else. */
  constructor(
    private readonly store: Store,
    private readonly gateway: Pick<GatewayConnection, "send">,
    private readonly placeOf: () => Place | null,
    onChoice: () => void,
  ) {
    this.unsubscribe = subscribeVoiceStatus(() => {
      const before = this.chosen;
      this.chosen = getVoiceStatus();
      if (
        before.selfMute !== this.chosen.selfMute ||
        before.selfDeaf !== this.chosen.selfDeaf ||
        before.camera !== this.chosen.camera
      ) {
        onChoice();
        this.tell();
      }
    });
  }

  /** Tell what was chosen, unless the server knows. */
  tell(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(
      () => {
        const place = this.placeOf();
        const own = ownVoiceState(this.store.state)?.voice;
        const { selfMute, selfDeaf, camera } = getVoiceStatus();
        const isKnown =
          own?.self_mute === selfMute && own.self_deaf === selfDeaf && own.self_video === camera;
        if (place !== null && !isKnown) {
          this.toldAt = Date.now();
          this.join(place.guildId, place.channelId);
        }
      },
      Math.max(0, this.toldAt + TELL_MS - Date.now()),
    );
  }

  /** Ask for a channel, or for another token of the one that the user is in. */
  join(guildId: string, channelId: string): void {
    const { selfMute, selfDeaf, camera } = getVoiceStatus();
    this.gateway.send({
      type: "voice",
      data: {
        guild_id: guildOfVoice(guildId, channelId),
        channel_id: channelId,
        self_mute: selfMute,
        self_deaf: selfDeaf,
        self_video: camera,
      },
    });
  }

  close(): void {
    this.unsubscribe();
    clearTimeout(this.timer);
  }
}
