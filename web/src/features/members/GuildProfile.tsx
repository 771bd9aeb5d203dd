import { useState } from "react";

import { Permission } from "../../api/enums";
import { modifyOwnMember } from "../../api/guilds";
import { memberAvatarUrl, memberBannerUrl } from "../../api/images";
import type { Part } from "../../i18n/messages";
import { useText, WithTexts } from "../../i18n/translate";
import { guildPermissions, has } from "../../store/permissions";
import type { GuildState } from "../../store/state";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/TextField";
import { ImageField } from "../../ui/fields";
import { ActionForm } from "../session/ActionForm";
import { useAppState, useSession } from "../session/session";
import { fieldError, useAction } from "../session/useAction";

const PARTS: readonly Part[] = ["settings"];

interface GuildProfileProps {
  guild: GuildState;
  onClose: () => void;
}

/** How the user appears in one guild: a nickname and pictures of their own. */
export default function GuildProfile(props: GuildProfileProps) {
  return (
    <WithTexts parts={PARTS}>
      <ProfileForm {...props} />
    </WithTexts>
  );
}

/** A picture that was chosen, or removed by null; undefined leaves it as it is. */
type NewImage = string | null | undefined;

function ProfileForm({ guild, onClose }: GuildProfileProps) {
  const text = useText();
  const { api, store } = useSession();
  const action = useAction();
  const user = useAppState((state) => state.user);
  const userId = user?.id ?? "";
  const member = useAppState((state) => state.members[guild.id]?.[userId]);
  const mayRename = useAppState((state) =>
    has(guildPermissions(state, guild.id, userId), Permission.ChangeNickname),
  );
  const [nick, setNick] = useState(member?.nick ?? "");
  const [avatar, setAvatar] = useState<NewImage>(undefined);
  const [banner, setBanner] = useState<NewImage>(undefined);
  const save = async () => {
    const changed = nick.trim() !== (member?.nick ?? "");
    const saved = await modifyOwnMember(api, guild.id, {
      ...(mayRename && changed && { nick: nick.trim() === "" ? null : nick.trim() }),
      ...(avatar !== undefined && { avatar }),
      ...(banner !== undefined && { banner }),
    });
    store.dispatch("GUILD_MEMBER_UPDATE", { ...saved, guild_id: guild.id });
    onClose();
  };
  const avatarShown =
    avatar === undefined ? memberAvatarUrl(guild.id, userId, member?.avatar ?? null, 80) : avatar;
  const bannerShown =
    banner === undefined ? memberBannerUrl(guild.id, userId, member?.banner ?? null, 320) : banner;
  return (
    <Dialog title={text("settings.guildProfile.title", { name: guild.name })} onClose={onClose}>
      <ActionForm
        action={action}
        shown={["nick", "avatar", "banner"]}
        onSubmit={() => void action.run(save)}
        confirm={text("common.save")}
        onCancel={onClose}
      >
        <TextField
          label={text("settings.guildProfile.nick")}
          hint={text(mayRename ? "settings.guildProfile.hint" : "settings.guildProfile.mayNotRename")}
          value={nick}
          onChange={setNick}
          isDisabled={!mayRename}
          maxLength={32}
          error={fieldError(action.error, "nick")}
        />
        <ImageField
          label={text("settings.avatar")}
          shape="round"
          crops
          url={avatarShown}
          onChange={setAvatar}
          error={fieldError(action.error, "avatar")}
        />
        <ImageField
          label={text("settings.banner")}
          shape="wide"
          url={bannerShown}
          onChange={setBanner}
          error={fieldError(action.error, "banner")}
        />
      </ActionForm>
    </Dialog>
  );
}
