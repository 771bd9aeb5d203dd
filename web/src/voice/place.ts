import type { State } from "../store/state";
import type { Store } from "../store/store";
import { ownVoiceState } from "../store/voice";
import type { VoiceServer } from "../store/entities";

/** Where the user is, and with which gateway session. */
export interface Place {
  /** In a call the id of its channel, which the voice gateway takes for a server's as well. */
  guildId: string;
  channelId: string;
  sessionId: string;
}

export interface PlaceCallbacks {
  /** The user has come into a channel with this page, or was moved. */
  onEnter: (place: Place) => void;
  /** The server says where to connect for sound, for the first time or anew. */
  onServer: (place: Place, server: VoiceServer) => void;
  /** The gateway's session was lost, and with it the place, which is taken again. */
  onLost: () => void;
  /** Ask for a channel. */
  onJoin: (guildId: string, channelId: string) => void;
  /** The user has left, was disconnected, or is connected with another device. */
  onLeave: () => void;
  /** The gateway can be told things again. */
  onOnline: () => void;
}

/** Follows the user's own voice state: in which channel this page is, as the gateway announces it. */
export class PlaceFollower {
  private place: Place | null = null;
  private server: VoiceServer | null = null;
  /** Where a lost session was. */
  private returning: Place | null = null;
  /** The session that has asked for that channel. */
  private askedBy: string | null = null;
  private wasOnline = true;
  private readonly unsubscribe: () => void;

  constructor(
    private readonly store: Store,
    private readonly callbacks: PlaceCallbacks,
  ) {
    this.unsubscribe = store.subscribe(() => this.follow(store.state));
  }

  /** Look for the first time. */
  start(): void {
    this.follow(this.store.state);
  }

  /** Ask for the channel once more, which brings another token. */
  askAgain(): void {
    const place = this.place ?? this.returning;
    if (place !== null) {
      this.callbacks.onJoin(place.guildId, place.channelId);
    }
  }

  close(): void {
    this.unsubscribe();
  }

  private follow(state: State): void {
    const own = ownVoiceState(state);
    if (own?.voice.channel_id != null && own.voice.session_id === state.sessionId) {
      this.returning = null;
      this.stay(state, {
        guildId: own.guildId,
        channelId: own.voice.channel_id,
        sessionId: own.voice.session_id,
      });
    } else if (this.place !== null) {
      this.lose(state, this.place);
    }
    if (this.returning !== null) {
      this.goBack(state, this.returning);
    }
    const isOnline = state.status === "connected";
    if (isOnline && !this.wasOnline) {
      this.callbacks.onOnline();
    }
    this.wasOnline = isOnline;
  }

  private stay(state: State, place: Place): void {
    if (this.place?.channelId !== place.channelId || this.place.sessionId !== place.sessionId) {
      this.place = place;
      this.callbacks.onEnter(place);
    }
    const { voiceServer } = state;
    // Who comes from another guild has both voice states for a moment.
    if (voiceServer?.guild_id === place.guildId && voiceServer !== this.server) {
      this.server = voiceServer;
      this.callbacks.onServer(place, voiceServer);
    }
  }

  private lose(state: State, place: Place): void {
    this.place = null;
    if (place.sessionId === state.sessionId) {
      this.callbacks.onLeave();
    } else {
      this.returning = place;
      this.callbacks.onLost();
    }
  }

  /** Ask for the channel of the lost session as soon as the new one knows its guild. */
  private goBack(state: State, place: Place): void {
    const isLoaded = !state.loadingGuilds.includes(place.guildId);
    if (!isLoaded || state.status !== "connected" || this.askedBy === state.sessionId) {
      return;
    }
    const own = ownVoiceState(state);
    const isElsewhere = own !== null && own.voice.session_id !== place.sessionId;
    if (isElsewhere || state.channels[place.channelId] === undefined) {
      this.returning = null;
      this.callbacks.onLeave();
      return;
    }
    this.askedBy = state.sessionId;
    this.callbacks.onJoin(place.guildId, place.channelId);
  }
}
