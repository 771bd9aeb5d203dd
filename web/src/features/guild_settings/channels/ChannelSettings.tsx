import { Navigate, useNavigate } from "@tanstack/react-router";
import type { APIChannel } from "discord-api-types/v10";

import { deleteChannel } from "../../../api/channels";
import { ChannelType, Permission } from "../../../api/enums";
import type { MessageId, Part } from "../../../i18n/messages";
import { useText } from "../../../i18n/translate";
import { guildIdOf, isThread } from "../../../store/channels";
import { has } from "../../../store/permissions";
import { channelName } from "../../../store/selectors";
import { Button } from "../../../ui/controls";
import { loaded } from "../../../ui/loaded";
import { ErrorNotice } from "../../session/ErrorNotice";
import { useAppState, useSession } from "../../session/session";
import { LeaveGuard, SaveBar } from "../../session/Unsaved";
import { useAction } from "../../session/useAction";
import { useChannelPermissions } from "../../session/usePermissions";
import { SettingsFrame, SettingsScreen, SettingsSkeleton, showsBoth } from "../../shell/SettingsFrame";
import { ChannelFields } from "../../channel_settings/ChannelFields";
import { channelSettingsLink } from "../../channel_settings/links";
import { useChannelDraft, type ChannelDraft } from "../../channel_settings/useChannelDraft";
import "../../channels/channels.css";
import "../guild_settings.css";

const Overwrites = loaded(() => import("../../channel_settings/Overwrites"));

const PARTS: readonly Part[] = ["channels", "permissions"];

type SectionId = "overview" | "permissions" | "delete";

interface Section {
  id: SectionId;
  title: MessageId;
}

interface ChannelSettingsProps {
  guildId: string;
  channelId: string;
  sectionId: string | null;
}

/** The settings of a channel or category: a list of sections, and the open one. One draft has the changes of all. */
export default function ChannelSettings(props: ChannelSettingsProps) {
  return (
    <SettingsScreen parts={PARTS}>
      <Entrance {...props} />
    </SettingsScreen>
  );
}

/** Leads away from a channel that the user cannot change, or that was deleted. */
function Entrance({ guildId, channelId, sectionId }: ChannelSettingsProps) {
  const channel = useAppState((state) => state.channels[channelId]);
  const loading = useAppState((state) => state.loadingGuilds.includes(guildId));
  const permissions = useChannelPermissions(channel);
  if (channel === undefined && loading) {
    return <main id="main" className="main" aria-busy="true" />;
  }
  const isOpen =
    channel !== undefined &&
    !isThread(channel) &&
    guildIdOf(channel) === guildId &&
    has(permissions, Permission.ManageChannels);
  return isOpen ? (
    <Frame key={channelId} channel={channel} guildId={guildId} sectionId={sectionId} />
  ) : (
    <Navigate to="/channels/$guildId" params={{ guildId }} replace />
  );
}

interface FrameProps {
  channel: APIChannel;
  guildId: string;
  sectionId: string | null;
}

function Frame({ channel, guildId, sectionId }: FrameProps) {
  const text = useText();
  const navigate = useNavigate();
  const name = useAppState((state) => channelName(state, channel));
  const permissions = useChannelPermissions(channel);
  const draft = useChannelDraft(channel);
  const sections: readonly Section[] = [
    { id: "overview", title: "channel.settings.overview" },
    ...(has(permissions, Permission.ManageRoles)
      ? [{ id: "permissions" as const, title: "channel.settings.permissions" as const }]
      : []),
    { id: "delete", title: "channel.settings.delete" },
  ];
  const current = sections.find(({ id }) => id === sectionId) ?? null;
  if (current === null && (showsBoth() || sectionId !== null)) {
    return <Navigate {...channelSettingsLink(guildId, channel.id, "overview")} replace />;
  }
  const isCategory = channel.type === ChannelType.GuildCategory;
  const close = () =>
    void (isCategory
      ? navigate({ to: "/channels/$guildId", params: { guildId } })
      : navigate({ to: "/channels/$guildId/$channelId", params: { guildId, channelId: channel.id } }));
  return (
    <SettingsFrame
      label={text("channel.settings.title", { name })}
      title={isCategory ? name : `#${name}`}
      closeLabel={text("channel.settings.close")}
      onClose={close}
      groups={[{ title: isCategory ? "channel.type.category" : "channel.settings.channel", sections }]}
      linkTo={(id) => channelSettingsLink(guildId, channel.id, id)}
      current={current}
      back={channelSettingsLink(guildId, channel.id, undefined)}
      contentKey={`${channel.id} ${current?.id}`}
    >
      {current?.id === "overview" && <Overview channel={channel} draft={draft} />}
      {current?.id === "permissions" && (
        <>
          <h2 className="visually-hidden">{text("channel.settings.permissions.of", { name })}</h2>
          <Overwrites
            fallback={<SettingsSkeleton />}
            channel={channel}
            draft={draft.overwrites}
            onChange={draft.setOverwrites}
          />
        </>
      )}
      {current?.id === "delete" && <DeleteChannel channel={channel} name={name} guildId={guildId} />}
      {current !== null && current.id !== "delete" && (
        <ErrorNotice error={draft.error} shown={current.id === "overview" ? ["name", "topic"] : []} />
      )}
      <SaveBar draft={draft} what={draft.changes} />
      <LeaveGuard draft={draft} within={`/app/guilds/${guildId}/channels/${channel.id}`} />
    </SettingsFrame>
  );
}

function Overview({ channel, draft }: { channel: APIChannel; draft: ChannelDraft }) {
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (draft.isDirty) {
          void draft.save();
        }
      }}
    >
      <ChannelFields channel={channel} draft={draft.fields} error={draft.error} onChange={draft.setFields} />
    </form>
  );
}

interface DeleteChannelProps {
  channel: APIChannel;
  name: string;
  guildId: string;
}

function DeleteChannel({ channel, name, guildId }: DeleteChannelProps) {
  const text = useText();
  const { api } = useSession();
  const navigate = useNavigate();
  const action = useAction();
  const remove = async () => {
    await deleteChannel(api, channel.id);
    await navigate({ to: "/channels/$guildId", params: { guildId } });
  };
  return (
    <div className="stack">
      <p>{text("channel.delete.question", { name })}</p>
      <ErrorNotice error={action.error} />
      <div className="dialog-actions">
        <Button kind="danger" isDisabled={action.pending} onPress={() => void action.run(remove)}>
          {text("channel.delete")}
        </Button>
      </div>
    </div>
  );
}
