import type { APIChannel } from "discord-api-types/v10";
import { useState } from "react";

import { modifyChannel } from "../../api/channels";
import { ChannelType, Permission } from "../../api/enums";
import { useText } from "../../i18n/translate";
import { guildIdOf, isVoice, parentIdOf } from "../../store/channels";
import { has } from "../../store/permissions";
import { Button } from "../../ui/controls";
import { Picker } from "../../ui/Picker";
import { Select } from "../../ui/Select";
import { PermissionChoices } from "../permissions/PermissionList";
import { PERMISSION_GROUPS } from "../permissions/permissions";
import { ErrorNotice } from "../session/ErrorNotice";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { useChannelPermissions } from "../session/usePermissions";
import { changedIds, overwriteOf, overwritesOf, withOverwrite, type OverwriteDraft } from "./overwriteDraft";
import { PrivateFields } from "./PrivateFields";
import { sameOverwrites } from "./sameOverwrites";
import { useTargets } from "./useTargets";

const NOTHING = { allow: 0n, deny: 0n };
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

interface OverwritesProps {
  channel: APIChannel;
  draft: OverwriteDraft;
  onChange: (draft: OverwriteDraft) => void;
}

/** The permissions of roles and members in a channel: allowed, inherited or denied. One draft has those of all. */
export default function Overwrites({ channel, draft, onChange }: OverwritesProps) {
  const text = useText();
  const guildId = guildIdOf(channel) ?? "";
  const saved = overwritesOf(channel);
  const [addedIds, setAddedIds] = useState<readonly string[]>([]);
  const [targetId, setTargetId] = useState(guildId);
  const permissions = useChannelPermissions(channel);
  const listedIds = [
    ...new Set([guildId, ...saved.map((each) => each.id), ...Object.keys(draft), ...addedIds]),
  ];
  const { options, onSearch, nameOf } = useTargets(guildId, listedIds);
  const changed = new Set(changedIds(draft, saved));
  const overwrite = overwriteOf(draft, saved, targetId);
  return (
    <>
      <CategorySync channel={channel} />
      <PrivateFields
        guildId={guildId}
        type={channel.type}
        saved={saved}
        draft={draft}
        onChange={onChange}
        isDisabled={!has(permissions, Permission.ViewChannel)}
      />
      <div className="overwrite-target">
        <Select
          label={text("overwrite.target")}
          value={targetId}
          options={listedIds.map((id) => [
            id,
            changed.has(id) ? text("overwrite.changed", { name: nameOf(id) }) : nameOf(id),
          ])}
          onChange={setTargetId}
        />
        <Picker
          label={text("overwrite.add")}
          options={options.filter((each) => !listedIds.includes(each.id))}
          value={[]}
          onSearch={onSearch}
          onChange={([id]) => {
            if (id !== undefined) {
              setAddedIds([...addedIds, id]);
              setTargetId(id);
            }
          }}
        />
        {overwrite !== null && (
          <Button kind="danger" onPress={() => onChange(withOverwrite(draft, targetId, null))}>
            {text("overwrite.remove")}
          </Button>
        )}
      </div>
      <PermissionChoices
        shown={shownPermissions(channel)}
        grantable={permissions}
        value={overwrite ?? NOTHING}
        onChange={(value) => onChange(withOverwrite(draft, targetId, value))}
      />
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
