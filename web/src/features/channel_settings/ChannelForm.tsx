import { ChannelType, Permission } from "../../api/enums";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { createChannel } from "../../api/guilds";
import type { MessageId } from "../../i18n/messages";
import { useText } from "../../i18n/translate";
import { WithChannelTexts } from "../../i18n/WithChannelTexts";
import { guildIdOf } from "../../store/channels";
import { guildPermissions, has } from "../../store/permissions";
import { TextField } from "../../ui/TextField";
import { Select } from "../../ui/Select";
import { ActionForm } from "../session/ActionForm";
import { useAppState, useSession } from "../session/session";
import { fieldError, useAction } from "../session/useAction";
import {
  changedIds,
  mergedOverwrites,
  NO_OVERWRITES,
  overwritesOf,
  type OverwriteDraft,
} from "./overwriteDraft";
import { PrivateFields } from "./PrivateFields";

type CreatableType = (typeof ChannelType)[
  | "GuildText"
  | "GuildVoice"
  | "GuildCategory"
  | "GuildAnnouncement"
  | "GuildStageVoice"
  | "GuildForum"
  | "GuildMedia"];

interface TypeChoice {
  type: CreatableType;
  text: MessageId;
  /** Whether only communities may have such channels. */
  community: boolean;
}

const TYPES: readonly TypeChoice[] = [
  { type: ChannelType.GuildText, text: "channel.type.text", community: false },
  { type: ChannelType.GuildVoice, text: "channel.type.voice", community: false },
  { type: ChannelType.GuildForum, text: "channel.type.forum", community: true },
  { type: ChannelType.GuildMedia, text: "channel.type.media", community: true },
  { type: ChannelType.GuildAnnouncement, text: "channel.type.announcement", community: true },
  { type: ChannelType.GuildStageVoice, text: "channel.type.stage", community: true },
  { type: ChannelType.GuildCategory, text: "channel.type.category", community: false },
];

const WITH_TOPIC: ReadonlySet<ChannelType> = new Set([
  ChannelType.GuildText,
  ChannelType.GuildAnnouncement,
  ChannelType.GuildForum,
  ChannelType.GuildMedia,
]);

interface ChannelFormProps {
  guildId: string;
  onDone: () => void;
}

/** Creates a channel. */
export function ChannelForm({ guildId, onDone }: ChannelFormProps) {
  const text = useText();
  const { api, account } = useSession();
  const navigate = useNavigate();
  const action = useAction();
  const [name, setName] = useState("");
  const [topic, setTopic] = useState("");
  const [type, setType] = useState<CreatableType>(ChannelType.GuildText);
  const [parentId, setParentId] = useState("");
  const isCommunity = useAppState((state) => state.guilds[guildId]?.features.includes("COMMUNITY") === true);
  const channels = useAppState((state) => state.channels);
  const categories = Object.values(channels).filter(
    (each) => each.type === ChannelType.GuildCategory && guildIdOf(each) === guildId,
  );
  const hasTopic = WITH_TOPIC.has(type);
  const roles = useAppState((state) => state.guilds[guildId]?.roles);
  const mayRestrict = useAppState((state) =>
    has(guildPermissions(state, guildId, account.userId), Permission.ManageRoles),
  );
  // Without changes of its own a channel has the permissions of its category.
  const category = type === ChannelType.GuildCategory ? undefined : channels[parentId];
  const inherited = category === undefined ? NO_OVERWRITES : overwritesOf(category);
  const [overwrites, setOverwrites] = useState<OverwriteDraft>({});
  const submit = async () => {
    const topicField = hasTopic ? { topic: topic === "" ? null : topic } : {};
    const parentField = type === ChannelType.GuildCategory || parentId === "" ? {} : { parent_id: parentId };
    const overwriteField =
      changedIds(overwrites, inherited).length === 0
        ? {}
        : {
            permission_overwrites: mergedOverwrites(overwrites, inherited, (id) => roles?.[id] !== undefined),
          };
    const created = await createChannel(api, guildId, {
      name,
      type,
      ...topicField,
      ...parentField,
      ...overwriteField,
    });
    if (created.type !== ChannelType.GuildCategory) {
      await navigate({ to: "/channels/$guildId/$channelId", params: { guildId, channelId: created.id } });
    }
    onDone();
  };
  return (
    <ActionForm
      action={action}
      shown={["type", "name", "topic", "parent_id"]}
      onSubmit={() => void action.run(submit)}
      confirm={text("channel.create")}
      isDisabled={name.trim() === ""}
      onCancel={onDone}
    >
      <Select
        label={text("channel.create.type")}
        value={String(type)}
        options={TYPES.filter((each) => isCommunity || !each.community).map((each) => [
          String(each.type),
          text(each.text),
        ])}
        onChange={(chosen) =>
          setType(TYPES.find((each) => String(each.type) === chosen)?.type ?? ChannelType.GuildText)
        }
        hint={isCommunity ? undefined : text("channel.create.community")}
        error={fieldError(action.error, "type")}
      />
      <TextField
        label={text("channel.create.name")}
        value={name}
        onChange={setName}
        isRequired
        autoFocus
        error={fieldError(action.error, "name")}
      />
      {hasTopic && (
        <TextField
          label={text("channel.create.topic")}
          value={topic}
          onChange={setTopic}
          multiline
          error={fieldError(action.error, "topic")}
        />
      )}
      {type !== ChannelType.GuildCategory && categories.length > 0 && (
        <Select
          label={text("channel.type.category")}
          value={parentId}
          options={[
            ["", text("channel.category.none")],
            ...categories.map((each) => [each.id, "name" in each ? (each.name ?? "") : ""] as const),
          ]}
          error={fieldError(action.error, "parent_id")}
          onChange={setParentId}
        />
      )}
      {mayRestrict && (
        <WithChannelTexts>
          <PrivateFields
            guildId={guildId}
            type={type}
            saved={inherited}
            draft={overwrites}
            onChange={setOverwrites}
          />
        </WithChannelTexts>
      )}
    </ActionForm>
  );
}
