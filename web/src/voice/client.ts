import { Permission } from "../api/enums";
import type { GatewayConnection } from "../gateway/connection";
import { channelPermissions, has } from "../store/permissions";
import type { Store } from "../store/store";
import { ownVoiceState } from "../store/voice";
import type { VoiceServer } from "../store/entities";
import { VoiceCall } from "./call";
import { ChoiceTeller } from "./choice";
import { playCue, type Cue } from "./cues";
import { CallDisplay } from "./display";
import type { EndReason } from "./gateway";
import { VoiceInput } from "./input";
import type { MediaKind } from "./media";
import { OwnVideos } from "./ownVideos";
import { MemberFollower, type MemberChange } from "./members";
import { PlaceFollower, type Place } from "./place";
import { rememberReturn } from "./returning";
import { getVoiceSettings, subscribeVoiceSettings } from "./settings";
import { Speakers, setOutput } from "./speakers";
import { getVoiceStatus, setVoiceStatus, WITHOUT_CALL, type Failure } from "./status";
import { clearVideos, setVideo, shownQuality, subscribeShown } from "./videos";
import { getVolume, subscribeVolumes } from "./volumes";

interface VoiceClientOptions {
  store: Store;
  gateway: Pick<GatewayConnection, "send">;
  userId: string;
  /** Where the account's volumes are stored on this device. */
  volumesKey: string;
  /** Called when somebody else comes into the user's channel, or leaves it. */
  onMember: (userId: string, change: MemberChange) => void;
}

/** After so long without VOICE_SERVER_UPDATE, the server carries no sound. */
const SERVER_MS = 10_000;
/** Bits a second of sound, where the channel does not say: in calls. */
const BITRATE = 64_000;
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
  private readonly members: MemberFollower;
  private readonly choice: ChoiceTeller;
  private readonly display: CallDisplay;
  private readonly ownVideos: OwnVideos;
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
      onJoin: (guildId, channelId) => {
        this.choice.join(guildId, channelId);
        this.expectServer();
      },
      onLeave: () => this.leave(),
      onOnline: () => this.choice.tell(),
    });
    const { store, gateway, userId } = options;
    this.members = new MemberFollower(store, userId, (otherId, change) => {
      this.play(change);
      options.onMember(otherId, change);
    });
    this.choice = new ChoiceTeller(
      store,
      gateway,
      () => this.place,
      () => this.applyState(),
    );
    this.display = new CallDisplay(
      () => this.call,
      () => (this.isSpeaking ? userId : null),
      this.speakers,
    );
    this.ownVideos = new OwnVideos(userId, () => this.call);
    this.stops = [
      subscribeShown(() => this.call?.showChanged()),
      store.subscribe(() => this.applyState()),
      subscribeVoiceSettings(() => this.applySettings()),
      subscribeVolumes(() => this.applyVolumes()),
      listen(globalThis, "online", () => this.call?.changeNetwork()),
      listen(globalThis, "pagehide", () => this.remember()),
      listen(this.context, "statechange", () => this.showSilence()),
      listen(document, "pointerdown", () => this.wake()),
      listen(document, "keydown", () => this.wake()),
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

  /** Show the camera, or no longer. */
  toggleCamera(): void {
    void this.ownVideos.toggle("camera");
  }

  /** Let the user choose a screen and show it, or no longer. */
  toggleScreen(): void {
    void this.ownVideos.toggle("screen");
  }

  close(): void {
    this.follower.close();
    this.choice.close();
    this.display.close();
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
    this.members.enter(place);
    this.renewals = 0;
    this.remember();
    this.wake();
    setVoiceStatus({ phase: "connecting", failure: null, quality: null });
    this.expectServer();
    this.play("joined");
  }

  private connect(place: Place, { token, endpoint }: VoiceServer): void {
    clearTimeout(this.serverTimer);
    this.closeCall();
    if (endpoint === null) {
      this.failWith("none");
      return;
    }
    if (typeof RTCPeerConnection !== "function") {
      this.failWith("unsupported");
      return;
    }
    const phase = getVoiceStatus().phase === "connecting" ? "connecting" : "reconnecting";
    setVoiceStatus({ phase, failure: null });
    const { userId } = this.options;
    this.call = new VoiceCall(voiceUrl(), { ...place, userId, token }, shownQuality, {
      onTrack: (other, kind, track) => this.showTrack(other, kind, track),
      onConnected: (isConnected) => this.showConnected(isConnected),
      onEnd: (reason, code) => this.handleEnd(reason, code),
    });
    this.call.setTrack(this.track);
    this.call.setSpeaking(this.isSpeaking);
    this.ownVideos.sendBy(this.call);
    this.applyState();
  }

  private showTrack(userId: string, kind: MediaKind, track: MediaStreamTrack | null): void {
    if (kind === "camera" || kind === "screen") {
      setVideo(userId, kind, track);
    } else {
      const key = kind === "voice" ? userId : screenSoundOf(userId);
      this.speakers.setTrack(key, track, getVolume(this.options.volumesKey, userId));
    }
  }

  private lose(): void {
    this.closeCall();
    setVoiceStatus({ phase: "reconnecting", quality: null });
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
    this.ownVideos.close();
    clearVideos();
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
      void this.display.showQuality();
    } else if (getVoiceStatus().phase === "connected") {
      setVoiceStatus({ phase: "reconnecting", quality: null });
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
    const isMuted = selfMute || selfDeaf || own?.mute === true;
    this.input.set(place !== null && own?.suppress !== true, isMuted, has(permissions, Permission.UseVAD));
    this.speakers.setMasterVolume(isDeaf ? 0 : getVoiceSettings().outputVolume);
    this.call?.setBitrate(
      channel !== undefined && "bitrate" in channel ? (channel.bitrate ?? BITRATE) : BITRATE,
    );
    if (place !== null) {
      if (this.wasMuted !== null && this.wasMuted !== isMuted) {
        this.play(isMuted ? "muted" : "unmuted");
      }
      this.wasMuted = isMuted;
      this.members.follow(place);
    }
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
    for (const key of this.speakers.userIds) {
      this.speakers.setVolume(key, getVolume(this.options.volumesKey, userOf(key)));
    }
  }

  private play(cue: Cue): void {
    if (getVoiceSettings().cues && !getVoiceStatus().selfDeaf && this.context.state === "running") {
      playCue(this.context, cue);
    }
  }
}

/** Under which key the sound of a user's screen is played: it does not count as their speaking. */
function screenSoundOf(userId: string): string {
  return `${userId} screen`;
}

function userOf(key: string): string {
  return key.split(" ")[0] ?? key;
}

function listen(target: EventTarget, name: string, listener: () => void): () => void {
  target.addEventListener(name, listener);
  return () => target.removeEventListener(name, listener);
}

/** The voice gateway of the server that the page is from: its policy allows no other host. */
function voiceUrl(): string {
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/gateway?v=8`;
}
