import type { APIChannel, GatewayVoiceState } from "discord-api-types/v10";
import {
  AudioLines,
  Hand,
  HeadphoneOff,
  LogIn,
  LogOut,
  MicOff,
  Pencil,
  Video as VideoIcon,
  VolumeX,
} from "lucide-react";
import { useEffect, useMemo, useState } from "react";

import { ChannelType, Permission } from "../../api/enums";
import { emojiUrl } from "../../api/images";
import { modifyOwnStageState, setVoiceStatus } from "../../api/voice";
import type { Part } from "../../i18n/messages";
import { useText, WithTexts } from "../../i18n/translate";
import { guildIdOf } from "../../store/channels";
import { has } from "../../store/permissions";
import { displayName } from "../../store/selectors";
import { ownVoiceState, voiceStatesIn } from "../../store/voice";
import { DialogFooter } from "../../ui/DialogFooter";
import { Button, IconButton } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/TextField";
import { Panel, PanelLoading } from "../../ui/Panel";
import { loaded } from "../../ui/loaded";
import { keyName, useVoiceSettings } from "../../voice/settings";
import { useVolume } from "../../voice/volumes";
import { ErrorNotice } from "../session/ErrorNotice";
import { MemberAvatar } from "../users/MemberAvatar";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { useChannelPermissions } from "../session/usePermissions";
import { preloadVoice } from "./preload";
import { useVideos } from "./useVideos";
import { StageControls } from "./StageControls";
import { useVoice } from "./useVoice";
import { useVoiceStatus } from "./useVoiceStatus";
import { useVolumesKey } from "./useVolumesKey";
import { VoiceMemberMenu } from "./VoiceMemberMenu";
import "./voice.css";

const Soundboard = loaded(() => import("./Soundboard"));
const VideoStage = loaded(() => import("./VideoStage"));

const PARTS: readonly Part[] = ["channels", "voice"];
const EFFECT_MS = 3000;

interface VoicePanelProps {
  channel: APIChannel;
  /** In a call the id of its channel. */
  guildId: string;
}

/** Who is connected to a voice or stage channel, or is in a call, above the chat of the channel. */
export default function VoicePanel(props: VoicePanelProps) {
  return (
    <WithTexts parts={PARTS}>
      <VoiceContent {...props} />
    </WithTexts>
  );
}

function VoiceContent({ channel, guildId }: VoicePanelProps) {
  const text = useText();
  const isStage = channel.type === ChannelType.GuildStageVoice;
  const isCall = guildIdOf(channel) === null;
  const all = useAppState((state) => state.voiceStates[guildId]);
  const { store } = useSession();
  const states = useMemo(
    () => voiceStatesIn(store.state, guildId, channel.id),
    // The list depends on these voice states.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [store, guildId, channel.id, all],
  );
  const speakers = isStage ? states.filter((voice) => !voice.suppress) : states;
  const audience = isStage ? states.filter((voice) => voice.suppress) : [];
  const isHere = states.some((voice) => voice.session_id === store.state.sessionId);
  const hasVideo = useVideos().length > 0 && isHere;
  return (
    <section className="voice-panel" data-video={hasVideo || undefined} aria-label={text("voice.panel")}>
      {isStage && <StageControls channel={channel} />}
      {!isStage && !isCall && <VoiceStatus channel={channel} />}
      {isCall && <Ringing channelId={channel.id} />}
      {states.length === 0 && <p className="field-hint">{text("voice.empty")}</p>}
      {isStage && speakers.length > 0 && <h2 className="voice-heading">{text("stage.speakers")}</h2>}
      {hasVideo && <VideoStage states={speakers} guildId={guildId} />}
      <Participants states={speakers} channel={channel} guildId={guildId} />
      {audience.length > 0 && <h2 className="voice-heading">{text("stage.audience")}</h2>}
      <Participants states={audience} channel={channel} guildId={guildId} />
      <OwnControls channel={channel} guildId={guildId} isStage={isStage} />
      <TalkHint channel={channel} />
    </section>
  );
}

/** Who is being rung to join a call. */
function Ringing({ channelId }: { channelId: string }) {
  const text = useText();
  const ringing = useAppState((state) => state.calls[channelId]?.ringing);
  const users = useAppState((state) => state.users);
  const { store } = useSession();
  const names = useMemo(
    () =>
      (ringing ?? []).flatMap((id) => {
        const user = users[id];
        return user === undefined ? [] : [displayName(store.state, user, null)];
      }),
    [ringing, users, store],
  );
  return (
    <p className="voice-ringing" role="status">
      {names.length > 0 && text("voice.call.ringing", { names: names.join(", ") })}
    </p>
  );
}

interface ParticipantsProps extends VoicePanelProps {
  states: readonly GatewayVoiceState[];
}

function Participants({ states, channel, guildId }: ParticipantsProps) {
  return states.length === 0 ? null : (
    <ul className="voice-cards">
      {states.map((voice) => (
        <Participant key={voice.user_id} voice={voice} channel={channel} guildId={guildId} />
      ))}
    </ul>
  );
}

function Participant({ voice, channel, guildId }: VoicePanelProps & { voice: GatewayVoiceState }) {
  const text = useText();
  const user = useAppState((state) => state.users[voice.user_id] ?? voice.member?.user);
  const name = useAppState((state) =>
    user === undefined ? voice.user_id : displayName(state, user, guildId),
  );
  const muted = voice.mute || voice.self_mute;
  const deafened = voice.deaf || voice.self_deaf;
  const isSpeaking = useVoiceStatus((status) => status.speaking.has(voice.user_id));
  const isMutedForMe = useVolume(useVolumesKey(), voice.user_id).muted;
  return (
    <li className="voice-card" data-speaking={isSpeaking || undefined}>
      <MemberAvatar user={user} guildId={guildId} name={name} size={56} />
      <Effect userId={voice.user_id} channelId={channel.id} />
      <span className="voice-card-name" dir="auto">
        {name}
      </span>
      <span className="voice-card-icons">
        {isSpeaking && <span className="visually-hidden">{text("voice.speaking")}</span>}
        {isMutedForMe && <VolumeX size={15} aria-label={text("voice.mutedForMe")} />}
        {voice.request_to_speak_timestamp && <Hand size={15} aria-label={text("stage.requested")} />}
        {muted && (
          <MicOff size={15} aria-label={text(voice.mute ? "voice.mutedByModerator" : "voice.muted")} />
        )}
        {voice.self_video && <VideoIcon size={15} aria-label={text("voice.camera")} />}
        {deafened && (
          <HeadphoneOff size={15} aria-label={text(voice.deaf ? "voice.deafByModerator" : "voice.deaf")} />
        )}
      </span>
      <VoiceMemberMenu voice={voice} channel={channel} guildId={guildId} name={name} />
    </li>
  );
}

/** The emoji of the sound that a participant has just played. */
function Effect({ userId, channelId }: { userId: string; channelId: string }) {
  const text = useText();
  const effect = useAppState((state) => state.voiceEffect);
  const [endedAt, setEndedAt] = useState(0);
  const isTheirs = effect?.user_id === userId && effect.channel_id === channelId;
  const at = isTheirs ? effect.at : 0;
  useEffect(() => {
    const timer = at > 0 ? setTimeout(() => setEndedAt(at), at + EFFECT_MS - Date.now()) : undefined;
    return () => clearTimeout(timer);
  }, [at]);
  if (!isTheirs || endedAt === at) {
    return null;
  }
  const { emoji } = effect;
  return (
    <span className="voice-card-effect" role="img" aria-label={text("soundboard.played")}>
      {emoji?.id ? <img src={emojiUrl(emoji.id, 24)} alt="" /> : (emoji?.name ?? "♪")}
    </span>
  );
}

/** Joining, leaving, and the user's own state. */
function OwnControls({ channel, guildId, isStage }: VoicePanelProps & { isStage: boolean }) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const { own, join, leave } = useVoice(guildId);
  const [showsSounds, setShowsSounds] = useState(false);
  const permissions = useChannelPermissions(channel);
  if (own?.channel_id !== channel.id) {
    return (
      <div className="voice-controls">
        <Button
          kind="primary"
          isDisabled={!has(permissions, Permission.Connect)}
          onHoverStart={preloadVoice}
          onPress={() => {
            preloadVoice();
            join(channel.id);
          }}
        >
          <LogIn size={16} aria-hidden="true" />{" "}
          {text(isStage ? "stage.join" : guildId === channel.id ? "voice.call.join" : "voice.join")}
        </Button>
        {!has(permissions, Permission.Connect) && (
          <span className="field-hint">{text("voice.noPermission")}</span>
        )}
      </div>
    );
  }
  const stageState = (changes: { suppress?: boolean; request_to_speak_timestamp?: string | null }) =>
    void action.run(() => modifyOwnStageState(api, guildId, { channel_id: channel.id, ...changes }));
  const requests = own.request_to_speak_timestamp != null;
  const isCall = guildId === channel.id;
  const maySound =
    !isCall &&
    !own.suppress &&
    !own.mute &&
    !own.deaf &&
    !own.self_deaf &&
    has(permissions, Permission.UseSoundboard | Permission.Speak);
  return (
    <div className="voice-controls">
      <Button kind="danger" onPress={leave}>
        <LogOut size={16} aria-hidden="true" /> {text(isCall ? "voice.call.leave" : "voice.leave")}
      </Button>
      {maySound && (
        <Panel
          label={text("soundboard.open")}
          className="emoji-dialog"
          isOpen={showsSounds}
          onOpenChange={setShowsSounds}
          trigger={
            <IconButton label={text("soundboard.open")}>
              <AudioLines size={18} />
            </IconButton>
          }
        >
          <Soundboard fallback={<PanelLoading wide />} channelId={channel.id} guildId={guildId} />
        </Panel>
      )}
      {isStage && !own.suppress && (
        <Button onPress={() => stageState({ suppress: true })}>{text("stage.toAudience")}</Button>
      )}
      {isStage && own.suppress && has(permissions, Permission.MuteMembers) && (
        <Button onPress={() => stageState({ suppress: false })}>{text("stage.speak")}</Button>
      )}
      {isStage && own.suppress && has(permissions, Permission.RequestToSpeak) && (
        <Button
          onPress={() =>
            stageState({ request_to_speak_timestamp: requests ? null : new Date().toISOString() })
          }
        >
          <Hand size={16} aria-hidden="true" /> {text(requests ? "stage.withdraw" : "stage.request")}
        </Button>
      )}
      <ErrorNotice error={action.error} />
    </div>
  );
}

/** How the user talks where that takes a key. */
function TalkHint({ channel }: { channel: APIChannel }) {
  const text = useText();
  const { mode, key } = useVoiceSettings();
  const isCarried = useVoiceStatus((status) => status.phase === "connected");
  const isHere = useAppState((state) => ownVoiceState(state)?.voice.channel_id === channel.id);
  const mayDetect = has(useChannelPermissions(channel), Permission.UseVAD);
  if (!isCarried || !isHere || (mayDetect && mode === "detection")) {
    return null;
  }
  const id = mayDetect ? "voice.pushToTalk.hint" : "voice.pushToTalk.only";
  return <p className="voice-note">{text(id, { key: keyName(key) })}</p>;
}

/** The text below a voice channel's name, which members may set. */
function VoiceStatus({ channel }: { channel: APIChannel }) {
  const text = useText();
  const status = useAppState((state) => state.voiceStatuses[channel.id]);
  const maySet = has(useChannelPermissions(channel), Permission.SetVoiceChannelStatus);
  const [editing, setEditing] = useState(false);
  return (
    <div className="voice-status">
      <span>{status ?? <span className="field-hint">{text("voice.status.none")}</span>}</span>
      {maySet && (
        <IconButton label={text("voice.status.edit")} onPress={() => setEditing(true)}>
          <Pencil size={16} />
        </IconButton>
      )}
      {editing && (
        <StatusDialog channelId={channel.id} before={status ?? ""} onClose={() => setEditing(false)} />
      )}
    </div>
  );
}

function StatusDialog({
  channelId,
  before,
  onClose,
}: {
  channelId: string;
  before: string;
  onClose: () => void;
}) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const [value, setValue] = useState(before);
  const save = async () => {
    const status = value.trim() === "" ? null : value.trim();
    if (await action.run(() => setVoiceStatus(api, channelId, status))) {
      onClose();
    }
  };
  return (
    <Dialog title={text("voice.status.edit")} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <TextField label={text("voice.status")} value={value} onChange={setValue} maxLength={500} autoFocus />
        <ErrorNotice error={action.error} />
        <DialogFooter confirm={text("common.save")} isDisabled={action.pending} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
