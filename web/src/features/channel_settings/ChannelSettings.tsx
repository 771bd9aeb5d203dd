import { useNavigate } from "@tanstack/react-router";
import type { APIChannel } from "discord-api-types/v10";
import { useState } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";

import { deleteChannel } from "../../api/channels";
import { Permission } from "../../api/enums";
import { useText } from "../../i18n/translate";
import { guildIdOf } from "../../store/channels";
import { has } from "../../store/permissions";
import { channelName } from "../../store/selectors";
import { Button } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { WithChannelTexts } from "../../i18n/WithChannelTexts";
import { loaded } from "../../ui/loaded";
import { ErrorNotice } from "../session/ErrorNotice";
import { useAppState, useSession } from "../session/session";
import { SaveBar, useCloseGuard } from "../session/Unsaved";
import { useAction } from "../session/useAction";
import { useChannelPermissions } from "../session/usePermissions";
import { ChannelFields } from "./ChannelFields";
import { useChannelDraft } from "./useChannelDraft";
import "../channels/channels.css";

const Overwrites = loaded(() => import("./Overwrites"));

interface ChannelSettingsProps {
  channelId: string;
  onClose: () => void;
}

/** Edits a channel or category: its settings and permissions; deletes it. */
export default function ChannelSettings({ channelId, onClose }: ChannelSettingsProps) {
  const channel = useAppState((state) => state.channels[channelId]);
  return channel === undefined ? null : (
    <WithChannelTexts>
      <Settings channel={channel} onClose={onClose} />
    </WithChannelTexts>
  );
}

type TabId = "overview" | "permissions" | "delete";

function Settings({ channel, onClose }: { channel: APIChannel; onClose: () => void }) {
  const text = useText();
  const name = useAppState((state) => channelName(state, channel));
  const permissions = useChannelPermissions(channel);
  const [tab, setTab] = useState<TabId>("overview");
  const draft = useChannelDraft(channel);
  const save = async () => {
    const succeeded = await draft.save();
    if (succeeded && tab === "overview") {
      onClose();
    }
    return succeeded;
  };
  const { close, guard } = useCloseGuard(draft, onClose);
  return (
    <Dialog wide title={text("channel.settings.title", { name })} onClose={close}>
      <Tabs selectedKey={tab} onSelectionChange={(key) => setTab(key as TabId)}>
        <TabList aria-label={text("channel.settings.title", { name })} className="tabs">
          <Tab id="overview" className="tab">
            {text("channel.settings.overview")}
          </Tab>
          {has(permissions, Permission.ManageRoles) && (
            <Tab id="permissions" className="tab">
              {text("channel.settings.permissions")}
            </Tab>
          )}
          <Tab id="delete" className="tab">
            {text("common.delete")}
          </Tab>
        </TabList>
        <TabPanel id="overview" className="settings-panel">
          <form
            className="stack"
            onSubmit={(event) => {
              event.preventDefault();
              if (draft.isDirty) {
                void save();
              }
            }}
          >
            <ChannelFields
              channel={channel}
              draft={draft.fields}
              error={draft.error}
              onChange={draft.setFields}
            />
          </form>
        </TabPanel>
        <TabPanel id="permissions" className="settings-panel">
          <Overwrites channel={channel} draft={draft.overwrites} onChange={draft.setOverwrites} />
        </TabPanel>
        <TabPanel id="delete" className="settings-panel">
          <DeleteChannel channel={channel} name={name} onClose={onClose} />
        </TabPanel>
      </Tabs>
      {tab !== "delete" && (
        <ErrorNotice error={draft.error} shown={tab === "overview" ? ["name", "topic"] : []} />
      )}
      <SaveBar draft={{ ...draft, save }} what={draft.changes} />
      {guard}
    </Dialog>
  );
}

function DeleteChannel({
  channel,
  name,
  onClose,
}: {
  channel: APIChannel;
  name: string;
  onClose: () => void;
}) {
  const text = useText();
  const { api } = useSession();
  const navigate = useNavigate();
  const action = useAction();
  const remove = async () => {
    await deleteChannel(api, channel.id);
    onClose();
    if (location.pathname.includes(channel.id)) {
      await navigate({ to: "/channels/$guildId", params: { guildId: guildIdOf(channel) ?? "" } });
    }
  };
  return (
    <>
      <p>{text("channel.delete.question", { name })}</p>
      <ErrorNotice error={action.error} />
      <div className="dialog-actions">
        <Button kind="danger" isDisabled={action.pending} onPress={() => void action.run(remove)}>
          {text("channel.delete")}
        </Button>
      </div>
    </>
  );
}
