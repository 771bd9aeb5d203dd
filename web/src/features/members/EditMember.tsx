import type { APIGuildMember } from "discord-api-types/v10";
import { useState } from "react";

import { Permission } from "../../api/enums";
import { setOwnNickname } from "../../api/guilds";
import { modifyMember, type MemberChanges } from "../../api/moderation";
import { useText } from "../../i18n/translate";
import { guildPermissions, has } from "../../store/permissions";
import { isAssignable, mayActOn } from "../../store/ranks";
import type { GuildState } from "../../store/state";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/TextField";
import { Picker } from "../../ui/Picker";
import { ActionForm } from "../session/ActionForm";
import { useAppState, useSession } from "../session/session";
import { fieldError, useAction } from "../session/useAction";
import { memberName } from "./MemberField";
import { roleOptions } from "./roleOptions";

interface EditMemberProps {
  guild: GuildState;
  member: APIGuildMember;
  onClose: () => void;
}

/** Changes a member's nickname and roles. */
export function EditMember({ guild, member, onClose }: EditMemberProps) {
  const text = useText();
  const { api, store } = useSession();
  const action = useAction();
  const [nick, setNick] = useState(member.nick ?? "");
  const [roles, setRoles] = useState<readonly string[]>(member.roles);
  const { state } = store;
  const isSelf = useAppState(({ user }) => user?.id === member.user.id);
  const own = guildPermissions(state, guild.id, state.user?.id ?? "");
  const target = { userId: member.user.id, roles: member.roles };
  const canRename =
    mayActOn(state, guild, target, Permission.ManageNicknames) ||
    (isSelf && has(own, Permission.ChangeNickname));
  const options = roleOptions(guild).map((option) => {
    const role = guild.roles[option.id];
    return { ...option, isDisabled: role === undefined || !isAssignable(state, guild, role) };
  });
  const fixed = (id: string) => options.find((option) => option.id === id)?.isDisabled === true;
  const changeRoles = (chosen: readonly string[]) => {
    // Roles that the user cannot give stay as they are.
    const kept = member.roles.filter(fixed);
    setRoles([...kept, ...chosen.filter((id) => !fixed(id))]);
  };
  const save = async () => {
    const nickname = nick === "" ? null : nick;
    const renamed = canRename && nickname !== (member.nick ?? null);
    const changes: MemberChanges = {};
    if (renamed && !isSelf) {
      changes.nick = nickname;
    }
    if ([...roles].sort().join() !== [...member.roles].sort().join()) {
      changes.roles = roles;
    }
    if (renamed && isSelf) {
      await setOwnNickname(api, guild.id, nickname);
    }
    if (Object.keys(changes).length > 0) {
      await modifyMember(api, guild.id, member.user.id, changes);
    }
  };
  return (
    <Dialog title={text("guildSettings.members.edit.title", { name: memberName(member) })} onClose={onClose}>
      <ActionForm
        action={action}
        shown={["nick", "roles"]}
        onSubmit={() => {
          void action.run(save).then((saved) => {
            if (saved) {
              onClose();
            }
          });
        }}
        confirm={text("common.save")}
        onCancel={onClose}
      >
        <TextField
          label={text("guildSettings.members.nick")}
          value={nick}
          onChange={setNick}
          isDisabled={!canRename}
          maxLength={32}
          error={fieldError(action.error, "nick")}
        />
        <Picker
          label={text("guildSettings.roles")}
          options={options}
          value={roles}
          onChange={changeRoles}
          isDisabled={!has(own, Permission.ManageRoles)}
          error={fieldError(action.error, "roles")}
        />
      </ActionForm>
    </Dialog>
  );
}
