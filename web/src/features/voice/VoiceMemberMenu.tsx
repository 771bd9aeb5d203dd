import type { APIChannel, GatewayVoiceState } from "discord-api-types/v10";
import { MoreHorizontal } from "lucide-react";
import { useMemo, useState } from "react";

import { ChannelType, Permission } from "../../api/enums";
import { modifyStageState, modifyVoiceMember, type VoiceMemberChanges } from "../../api/voice";
import { useText } from "../../i18n/translate";
import { guildIdOf, isVoice } from "../../store/channels";
import { channelPermissions, has } from "../../store/permissions";
import { channelName } from "../../store/selectors";
import { DialogFooter } from "../../ui/DialogFooter";
import { IconButton } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { Menu, MenuItem, MenuSeparator } from "../../ui/Menu";
import { Select } from "../../ui/Select";
import { Slider } from "../../ui/Slider";
import { setVolume, useVolume, VOLUME_MAX } from "../../voice/volumes";
import { ErrorNotice } from "../session/ErrorNotice";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { useChannelPermissions } from "../session/usePermissions";
import { useVolumesKey } from "./useVolumesKey";

interface VoiceMemberMenuProps {
  voice: GatewayVoiceState;
  channel: APIChannel;
  guildId: string;
  name: string;
}

/** How loud the user hears a member who is connected, and what they may do with them. */
export function VoiceMemberMenu({ voice, channel, guildId, name }: VoiceMemberMenuProps) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const [moving, setMoving] = useState(false);
  // In a call everybody is alike.
  const granted = useChannelPermissions(channel);
  const permissions = guildIdOf(channel) === null ? 0n : granted;
  const mayMute = has(permissions, Permission.MuteMembers);
  const mayDeafen = has(permissions, Permission.DeafenMembers);
  const mayMove = has(permissions, Permission.MoveMembers);
  const isStage = channel.type === ChannelType.GuildStageVoice;
  const isSelf = useAppState((state) => state.user?.id === voice.user_id);
  const volumesKey = useVolumesKey();
  const isMutedForMe = useVolume(volumesKey, voice.user_id).muted;
  const [showsVolume, setShowsVolume] = useState(false);
  if (isSelf) {
    return null;
  }
  const modify = (changes: VoiceMemberChanges) =>
    void action.run(() => modifyVoiceMember(api, guildId, voice.user_id, changes));
  const suppress = (suppressed: boolean) =>
    void action.run(() =>
      modifyStageState(api, guildId, voice.user_id, { channel_id: channel.id, suppress: suppressed }),
    );
  const label = text("voice.member.menu", { name });
  return (
    <>
      <Menu
        label={label}
        trigger={
          <IconButton label={label}>
            <MoreHorizontal size={16} />
          </IconButton>
        }
      >
        <MenuItem onAction={() => setShowsVolume(true)}>{text("voice.member.volume")}</MenuItem>
        <MenuItem onAction={() => setVolume(volumesKey, voice.user_id, { muted: !isMutedForMe })}>
          {text(isMutedForMe ? "voice.member.unmuteForMe" : "voice.member.muteForMe")}
        </MenuItem>
        {(mayMute || mayDeafen || mayMove) && <MenuSeparator />}
        {isStage && mayMute && (
          <MenuItem onAction={() => suppress(!voice.suppress)}>
            {text(voice.suppress ? "stage.invite" : "stage.member.toAudience")}
          </MenuItem>
        )}
        {mayMute && !isStage && (
          <MenuItem onAction={() => modify({ mute: !voice.mute })}>
            {text(voice.mute ? "voice.member.unmute" : "voice.member.mute")}
          </MenuItem>
        )}
        {mayDeafen && !isStage && (
          <MenuItem onAction={() => modify({ deaf: !voice.deaf })}>
            {text(voice.deaf ? "voice.member.undeafen" : "voice.member.deafen")}
          </MenuItem>
        )}
        {mayMove && <MenuItem onAction={() => setMoving(true)}>{text("voice.member.move")}</MenuItem>}
        {mayMove && (
          <MenuItem danger onAction={() => modify({ channel_id: null })}>
            {text("voice.member.disconnect")}
          </MenuItem>
        )}
      </Menu>
      <ErrorNotice error={action.error} />
      {showsVolume && (
        <VolumeDialog userId={voice.user_id} name={name} onClose={() => setShowsVolume(false)} />
      )}
      {moving && (
        <MoveDialog
          voice={voice}
          guildId={guildId}
          title={text("voice.member.move.title", { name })}
          onClose={() => setMoving(false)}
        />
      )}
    </>
  );
}

/** How loud the user hears a member: heard at once, also while the slider is moved. */
function VolumeDialog({ userId, name, onClose }: { userId: string; name: string; onClose: () => void }) {
  const text = useText();
  const key = useVolumesKey();
  const { volume } = useVolume(key, userId);
  return (
    <Dialog title={text("voice.member.volume.title", { name })} onClose={onClose}>
      <Slider
        label={text("voice.member.volume")}
        hint={text("voice.member.volume.hint", { name })}
        value={volume}
        max={VOLUME_MAX}
        step={5}
        format={(percent) => text("voice.volume", { percent })}
        onChange={(changed) => setVolume(key, userId, { volume: changed, muted: false })}
      />
    </Dialog>
  );
}

interface MoveDialogProps {
  voice: GatewayVoiceState;
  guildId: string;
  title: string;
  onClose: () => void;
}

function MoveDialog({ voice, guildId, title, onClose }: MoveDialogProps) {
  const text = useText();
  const { api, store } = useSession();
  const action = useAction();
  const targets = useMemo(
    () =>
      Object.values(store.state.channels)
        .filter((each) => guildIdOf(each) === guildId && isVoice(each) && each.id !== voice.channel_id)
        .filter((each) =>
          has(channelPermissions(store.state, each, store.state.user?.id ?? ""), Permission.MoveMembers),
        )
        .map((each) => [each.id, channelName(store.state, each)] as const),
    [store, guildId, voice.channel_id],
  );
  const [target, setTarget] = useState(targets[0]?.[0] ?? "");
  const move = async () => {
    const moved = await action.run(() =>
      modifyVoiceMember(api, guildId, voice.user_id, { channel_id: target }),
    );
    if (moved) {
      onClose();
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      {targets.length === 0 ? (
        <p>{text("voice.member.move.none")}</p>
      ) : (
        <Select label={text("voice.member.move.to")} value={target} options={targets} onChange={setTarget} />
      )}
      <ErrorNotice error={action.error} />
      <DialogFooter
        confirm={text("voice.member.move")}
        isDisabled={target === "" || action.pending}
        onConfirm={() => void move()}
        onCancel={onClose}
      />
    </Dialog>
  );
}
