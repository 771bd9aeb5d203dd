import type { APIChannel, APIOverwrite } from "discord-api-types/v10";
import { useMemo, useState } from "react";

import { deleteOverwrite, editOverwrite, modifyChannel } from "../../api/channels";
import { ChannelType, OverwriteType, Permission } from "../../api/enums";
import { useText } from "../../i18n/translate";
import { guildIdOf, isVoice, parentIdOf } from "../../store/channels";
import { displayName } from "../../store/selectors";
import type { State } from "../../store/state";
import { Button } from "../../ui/controls";
import { Picker } from "../../ui/Picker";
import { Select } from "../../ui/Select";
import { PermissionChoices, type Overwrite } from "../permissions/PermissionList";
import { PERMISSION_GROUPS } from "../permissions/permissions";
import { ErrorNotice } from "../session/ErrorNotice";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { useChannelPermissions } from "../session/usePermissions";
import { sameOverwrites } from "./sameOverwrites";

const NONE: readonly APIOverwrite[] = [];
const GENERAL =
  Permission.ViewChannel |
  Permission.ManageChannels |
  Permission.ManageRoles |
  Permission.ManageWebhooks |
  Permission.CreateInstantInvite;

/** The permissions that overwrites of a channel can change. Those of categories apply to every kind of channel. */
function shownPermissions(channel: APIChannel): bigint {
  const groups = isVoice(channel)
    ? [...PERMISSION_GROUPS.voice, ...PERMISSION_GROUPS.stage, ...PERMISSION_GROUPS.events]
    : channel.type === ChannelType.GuildCategory
      ? [...PERMISSION_GROUPS.voice, ...PERMISSION_GROUPS.stage, ...PERMISSION_GROUPS.events]
      : [];
  const names = [...PERMISSION_GROUPS.text, ...PERMISSION_GROUPS.apps, ...groups];
  return names.reduce((set, name) => set | Permission[name], GENERAL);
}

/** The permissions of roles and members in a channel: allowed, inherited or denied. */
export default function Overwrites({ channel }: { channel: APIChannel }) {
  const text = useText();
  const { store } = useSession();
  const guildId = guildIdOf(channel) ?? "";
  const overwrites = overwritesOf(channel);
  const [addedIds, setAddedIds] = useState<readonly string[]>([]);
  const [targetId, setTargetId] = useState(guildId);
  const roles = useAppState((state) => state.guilds[guildId]?.roles);
  const members = useAppState((state) => state.members[guildId]);
  const listedIds = [...new Set([guildId, ...overwrites.map((each) => each.id), ...addedIds])];
  const candidates = useMemo(
    () => [
      ...Object.values(roles ?? {})
        .sort((a, b) => b.position - a.position)
        .map((role) => ({ id: role.id, name: `@${role.name.replace(/^@/, "")}` })),
      ...Object.values(members ?? {}).map(({ user }) => ({
        id: user.id,
        name: displayName(store.state, user, guildId),
      })),
    ],
    [roles, members, store, guildId],
  );
  const overwrite = overwrites.find((each) => each.id === targetId);
  return (
    <>
      <CategorySync channel={channel} />
      <div className="overwrite-target">
        <Select
          label={text("overwrite.target")}
          value={targetId}
          options={listedIds.map((id) => [id, targetName(store.state, guildId, id)])}
          onChange={setTargetId}
        />
        <Picker
          label={text("overwrite.add")}
          options={candidates.filter((each) => !listedIds.includes(each.id))}
          value={[]}
          onChange={([id]) => {
            if (id !== undefined) {
              setAddedIds([...addedIds, id]);
              setTargetId(id);
            }
          }}
        />
      </div>
      <Editor
        key={`${targetId} ${overwrite?.allow ?? ""} ${overwrite?.deny ?? ""}`}
        channel={channel}
        targetId={targetId}
        type={roles?.[targetId] === undefined ? OverwriteType.Member : OverwriteType.Role}
        overwrite={overwrite}
      />
    </>
  );
}

interface EditorProps {
  channel: APIChannel;
  targetId: string;
  type: OverwriteType;
  overwrite: APIOverwrite | undefined;
}

type OverwriteType = (typeof OverwriteType)[keyof typeof OverwriteType];

function Editor({ channel, targetId, type, overwrite }: EditorProps) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const before = { allow: BigInt(overwrite?.allow ?? 0), deny: BigInt(overwrite?.deny ?? 0) };
  const [value, setValue] = useState<Overwrite>(before);
  const permissions = useChannelPermissions(channel);
  const isChanged = value.allow !== before.allow || value.deny !== before.deny;
  const save = () =>
    editOverwrite(api, channel.id, {
      id: targetId,
      type: type === OverwriteType.Role ? 0 : 1,
      allow: String(value.allow),
      deny: String(value.deny),
    });
  return (
    <>
      <PermissionChoices
        shown={shownPermissions(channel)}
        grantable={permissions}
        value={value}
        onChange={setValue}
      />
      <ErrorNotice error={action.error} />
      <div className="dialog-actions">
        {overwrite !== undefined && (
          <Button
            kind="danger"
            isDisabled={action.pending}
            onPress={() => void action.run(() => deleteOverwrite(api, channel.id, targetId))}
          >
            {text("overwrite.remove")}
          </Button>
        )}
        <Button
          kind="primary"
          isDisabled={!isChanged || action.pending}
          onPress={() => void action.run(save)}
        >
          {text("common.save")}
        </Button>
      </div>
    </>
  );
}

/** Whether a channel has the permissions of its category; it can take them over. */
function CategorySync({ channel }: { channel: APIChannel }) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const category = useAppState((state) => state.channels[parentIdOf(channel) ?? ""]);
  if (category === undefined) {
    return null;
  }
  const theirs = overwritesOf(category);
  if (sameOverwrites(overwritesOf(channel), theirs)) {
    return <p className="notice">{text("overwrite.synced")}</p>;
  }
  const body = {
    permission_overwrites: theirs.map(({ id, type, allow, deny }) => ({
      id,
      type,
      allow,
      deny,
    })),
  };
  return (
    <div className="notice stack">
      {text("overwrite.notSynced")}
      <Button
        isDisabled={action.pending}
        onPress={() => void action.run(() => modifyChannel(api, channel.id, body))}
      >
        {text("overwrite.sync")}
      </Button>
      <ErrorNotice error={action.error} />
    </div>
  );
}

function overwritesOf(channel: APIChannel): readonly APIOverwrite[] {
  return "permission_overwrites" in channel ? (channel.permission_overwrites ?? NONE) : NONE;
}

function targetName(state: State, guildId: string, id: string): string {
  const role = state.guilds[guildId]?.roles[id];
  if (role !== undefined) {
    return `@${role.name.replace(/^@/, "")}`;
  }
  const user = state.users[id];
  return user === undefined ? id : displayName(state, user, guildId);
}
