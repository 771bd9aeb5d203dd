import { Permission } from "../api/enums";
import type { GatewayConnection } from "../gateway/connection";
import { channelPermissions, has } from "../store/permissions";
import type { Store } from "../store/store";
import { ownVoiceState, voiceStatesIn, type VoiceServer } from "../store/voice";
import { VoiceCall } from "./call";
import { playCue, type Cue } from "./cues";
import type { EndReason } from "./gateway";
import { VoiceInput } from "./input";
import { PlaceFollower, type Place } from "./place";
import { rememberReturn } from "./returning";
import { getVoiceSettings, subscribeVoiceSettings } from "./settings";
import { Speakers, setOutput } from "./speakers";
import {
  getVoiceStatus,
  setVoiceStatus,
  subscribeVoiceStatus,
  WITHOUT_CALL,
  type Failure,
  type VoiceStatus,
} from "./status";
import { getVolume, subscribeVolumes } from "./volumes";

interface VoiceClientOptions {
  store: Store;
  gateway: Pick<GatewayConnection, "send">;
  userId: string;
  /** Where the account's volumes are stored on this device. */
  volumesKey: string;
  /** Called when somebody else comes into the user's channel, or leaves it. */
  onMember: (userId: string, change: "joined" | "left") => void;
}

const LEVELS_MS = 100;
const QUALITY_MS = 2_000;
/** Below it, sound counts as silence. From 0 to 1. */
const AUDIBLE = 0.004;
/** After so long without VOICE_SERVER_UPDATE, the server carries no sound. */
const SERVER_MS = 10_000;
/** How often a new token is asked for before one has worked. */
const MAX_RENEWALS = 3;
/** The code by which the voice gateway demands end-to-end encryption. */
const ENCRYPTION_REQUIRED = 4017;

let active: VoiceClient | null = null;

/** The sound of the account in use; null before it was needed. */
export function activeVoiceClient(): VoiceClient | null {
  return active;
}

/** Carry the sound of an account until the returned function is called. */
export function startVoice(options: VoiceClientOptions): () => void {
  const client = new VoiceClient(options);
  active = client;
  return () => {
    active = null;
    client.close();
  };
}

/**
 * The sound of an account on this page. It follows the voice states that the gateway announces: whoever joins, moves,
 * mutes or disconnects the user does it there.
 */
class VoiceClient {
  private readonly context = new AudioContext({ latencyHint: "interactive" });
  private readonly speakers = new Speakers(this.context);
  private readonly input: VoiceInput;
  private readonly follower: PlaceFollower;
  private place: Place | null = null;
  private call: VoiceCall | null = null;
  private track: MediaStreamTrack | null = null;
  private isSpeaking = false;
  private wasMuted: boolean | null = null;
  /** The others in the channel, and the voice states that say so. */
  private members: ReadonlySet<string> = new Set();
  private statesSeen: unknown = null;
  private chosen: Pick<VoiceStatus, "selfMute" | "selfDeaf"> = getVoiceStatus();
  private renewals = 0;
  private output: string | null = null;
  private serverTimer: ReturnType<typeof setTimeout> | undefined;
  private readonly stops: readonly (() => void)[];

  constructor(private readonly options: VoiceClientOptions) {
    this.input = new VoiceInput(this.context, {
      onTrack: (track) => {
        this.track = track;
        this.call?.setTrack(track);
      },
      onProblem: (microphone) => setVoiceStatus({ microphone }),
      onSpeaking: (isSpeaking) => {
        this.isSpeaking = isSpeaking;
        this.call?.setSpeaking(isSpeaking);
      },
    });
    this.follower = new PlaceFollower(options.store, {
      onEnter: (place) => this.enter(place),
      onServer: (place, server) => this.connect(place, server),
      onLost: () => this.lose(),
      onJoin: (guildId, channelId) => this.join(guildId, channelId),
      onLeave: () => this.leave(),
      onOnline: () => this.tellSelf(),
    });
    const levels = setInterval(() => this.showLevels(), LEVELS_MS);
    const quality = setInterval(() => void this.showQuality(), QUALITY_MS);
    this.stops = [
      options.store.subscribe(() => this.applyState()),
      subscribeVoiceSettings(() => this.applySettings()),
      subscribeVolumes(() => this.applyVolumes()),
      subscribeVoiceStatus(() => this.applyChoice()),
      listen(globalThis, "online", () => this.call?.changeNetwork()),
      listen(globalThis, "pagehide", () => this.remember()),
      listen(this.context, "statechange", () => this.showSilence()),
      listen(document, "pointerdown", () => this.wake()),
      listen(document, "keydown", () => this.wake()),
      () => clearInterval(levels),
      () => clearInterval(quality),
      () => clearTimeout(this.serverTimer),
    ];
    this.applySettings();
    this.follower.start();
    this.applyState();
  }

  /** Begin anew after a failure. */
  retry(): void {
    this.renewals = 0;
    setVoiceStatus({ phase: "connecting", failure: null });
    this.follower.askAgain();
    this.expectServer();
  }

  /** Ask for the microphone once more. */
  retryMicrophone(): void {
    this.input.retry();
  }

  close(): void {
    this.follower.close();
    for (const stop of this.stops) {
      stop();
    }
    this.end();
    this.input.close();
    this.speakers.close();
    void this.context.close();
  }

  // Where the user is

  private enter(place: Place): void {
    this.closeCall();
    this.place = place;
    this.members = this.membersOf(place);
    this.renewals = 0;
    this.remember();
    this.wake();
    setVoiceStatus({ phase: "connecting", failure: null, quality: null });
    this.expectServer();
    this.play("joined");
  }

  private connect(place: Place, { token }: VoiceServer): void {
    clearTimeout(this.serverTimer);
    this.closeCall();
    if (typeof RTCPeerConnection !== "function") {
      this.failWith("unsupported");
      return;
    }
    const phase = getVoiceStatus().phase === "connecting" ? "connecting" : "reconnecting";
    setVoiceStatus({ phase, failure: null });
    const { userId } = this.options;
    this.call = new VoiceCall(
      voiceUrl(),
      { ...place, userId, token },
      {
        onTrack: (other, track) =>
          this.speakers.setTrack(other, track, getVolume(this.options.volumesKey, other)),
        onConnected: (isConnected) => this.showConnected(isConnected),
        onEnd: (reason, code) => this.handleEnd(reason, code),
      },
    );
    this.call.setTrack(this.track);
    this.call.setSpeaking(this.isSpeaking);
  }

  private lose(): void {
    this.closeCall();
    setVoiceStatus({ phase: "reconnecting", quality: null });
  }

  private join(guildId: string, channelId: string): void {
    const { selfMute, selfDeaf } = getVoiceStatus();
    this.options.gateway.send({
      type: "voice",
      data: { guild_id: guildId, channel_id: channelId, self_mute: selfMute, self_deaf: selfDeaf },
    });
    this.expectServer();
  }

  private leave(): void {
    this.play("left");
    rememberReturn(this.options.userId, null);
    this.end();
  }

  private handleEnd(reason: EndReason, code: number): void {
    this.call = null;
    if (reason === "renew" && this.renewals < MAX_RENEWALS) {
      this.renewals += 1;
      setVoiceStatus({ phase: "reconnecting" });
      this.follower.askAgain();
      this.expectServer();
    } else if (reason === "disconnected") {
      // The gateway's events say what has become of the user, and may bring another server.
      setVoiceStatus({ phase: "reconnecting", quality: null });
      this.expectServer();
    } else {
      this.failWith(
        code === ENCRYPTION_REQUIRED ? "encryption" : reason === "refused" ? "refused" : "unreachable",
      );
    }
  }

  /** Give up, unless the server says in time where to connect. */
  private expectServer(): void {
    clearTimeout(this.serverTimer);
    this.serverTimer = setTimeout(() => this.failWith("none"), SERVER_MS);
  }

  private failWith(failure: Failure): void {
    this.closeCall();
    setVoiceStatus({ phase: "failed", failure, quality: null });
  }

  private end(): void {
    clearTimeout(this.serverTimer);
    this.closeCall();
    this.place = null;
    this.wasMuted = null;
    setVoiceStatus(WITHOUT_CALL);
    this.applyState();
  }

  private closeCall(): void {
    this.call?.close();
    this.call = null;
  }

  // What is shown

  private showConnected(isConnected: boolean): void {
    if (isConnected) {
      this.renewals = 0;
      setVoiceStatus({ phase: "connected", failure: null });
      void this.showQuality();
    } else if (getVoiceStatus().phase === "connected") {
      setVoiceStatus({ phase: "reconnecting", quality: null });
    }
  }

  private showLevels(): void {
    const speaking = new Set(this.isSpeaking && this.call !== null ? [this.options.userId] : []);
    for (const [userId, level] of this.call?.levels() ?? []) {
      if (level > AUDIBLE) {
        speaking.add(userId);
      }
    }
    const before = getVoiceStatus().speaking;
    if (before.size !== speaking.size || without(speaking, before).length > 0) {
      setVoiceStatus({ speaking });
    }
  }

  private async showQuality(): Promise<void> {
    const { call } = this;
    const quality = (await call?.quality()) ?? null;
    if (call !== null && this.call === call && quality !== null) {
      setVoiceStatus({ quality });
    }
  }

  private showSilence(): void {
    setVoiceStatus({ isSilenced: this.place !== null && this.context.state !== "running" });
  }

  /** Browsers play nothing before the page was first used. */
  private wake(): void {
    if (this.place !== null && this.context.state !== "running") {
      this.context.resume().then(
        () => this.showSilence(),
        () => undefined,
      );
      this.showSilence();
    }
  }

  private remember(): void {
    if (this.place !== null) {
      rememberReturn(this.options.userId, this.place);
    }
  }

  // What is heard

  /** Follow the voice states: who is there, and what the user may do. */
  private applyState(): void {
    const { state } = this.options.store;
    const { place } = this;
    const own = place === null ? null : (ownVoiceState(state)?.voice ?? null);
    const channel = state.channels[place?.channelId ?? ""];
    const { selfMute, selfDeaf } = getVoiceStatus();
    const permissions = channel === undefined ? 0n : channelPermissions(state, channel, this.options.userId);
    const isDeaf = selfDeaf || own?.deaf === true;
    const isMuted = selfMute || isDeaf || own?.mute === true;
    this.input.set(place !== null && own?.suppress !== true, isMuted, has(permissions, Permission.UseVAD));
    this.speakers.setMasterVolume(isDeaf ? 0 : getVoiceSettings().outputVolume);
    if (place !== null) {
      if (this.wasMuted !== null && this.wasMuted !== isMuted) {
        this.play(isMuted ? "muted" : "unmuted");
      }
      this.wasMuted = isMuted;
      this.followMembers(place);
    }
  }

  private followMembers(place: Place): void {
    const states = this.options.store.state.voiceStates[place.guildId];
    if (states === this.statesSeen) {
      return;
    }
    const before = this.members;
    const members = this.membersOf(place);
    this.statesSeen = states;
    this.members = members;
    for (const [change, userIds] of [
      ["joined", without(members, before)],
      ["left", without(before, members)],
    ] as const) {
      for (const userId of userIds) {
        this.play(change);
        this.options.onMember(userId, change);
      }
    }
  }

  /** The others in a channel. */
  private membersOf({ guildId, channelId }: Place): ReadonlySet<string> {
    const states = voiceStatesIn(this.options.store.state, guildId, channelId);
    return new Set(states.map((each) => each.user_id).filter((id) => id !== this.options.userId));
  }

  private applySettings(): void {
    const { outputId } = getVoiceSettings();
    if (outputId !== this.output) {
      this.output = outputId;
      void setOutput(this.context, outputId);
    }
    this.input.apply();
    this.applyState();
  }

  private applyVolumes(): void {
    for (const userId of this.speakers.userIds) {
      this.speakers.setVolume(userId, getVolume(this.options.volumesKey, userId));
    }
  }

  /** Mute and deafen at once, and tell the server as soon as it can be told. */
  private applyChoice(): void {
    const { selfMute, selfDeaf } = getVoiceStatus();
    if (selfMute !== this.chosen.selfMute || selfDeaf !== this.chosen.selfDeaf) {
      this.chosen = { selfMute, selfDeaf };
      this.applyState();
      this.tellSelf();
    }
  }

  /** Tell the server what the user has chosen, unless it knows. */
  private tellSelf(): void {
    const own = ownVoiceState(this.options.store.state)?.voice;
    const { selfMute, selfDeaf } = getVoiceStatus();
    if (this.place !== null && (own?.self_mute !== selfMute || own.self_deaf !== selfDeaf)) {
      const { guildId, channelId } = this.place;
      this.options.gateway.send({
        type: "voice",
        data: { guild_id: guildId, channel_id: channelId, self_mute: selfMute, self_deaf: selfDeaf },
      });
    }
  }

  private play(cue: Cue): void {
    if (getVoiceSettings().cues && !getVoiceStatus().selfDeaf && this.context.state === "running") {
      playCue(this.context, cue);
    }
  }
}

/** The entries of a set that another one does not have. */
function without(set: ReadonlySet<string>, other: ReadonlySet<string>): string[] {
  return [...set].filter((each) => !other.has(each));
}

function listen(target: EventTarget, name: string, listener: () => void): () => void {
  target.addEventListener(name, listener);
  return () => target.removeEventListener(name, listener);
}

/** The voice gateway of the server that the page is from: its policy allows no other host. */
function voiceUrl(): string {
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/gateway?v=8`;
}
