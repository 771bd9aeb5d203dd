import type { APIChannel, APIMessage } from "discord-api-types/v10";
import { useState } from "react";

import { ChannelType, Permission } from "../../api/enums";
import { startThread, startThreadFromMessage } from "../../api/threads";
import { useText } from "../../i18n/translate";
import { guildIdOf } from "../../store/channels";
import { has } from "../../store/permissions";
import { putThread } from "../../store/threads";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/TextField";
import { Switch } from "../../ui/fields";
import { Select } from "../../ui/Select";
import { WithChannelTexts } from "../../i18n/WithChannelTexts";
import { AUTO_ARCHIVE_MINUTES, useDuration } from "../channels/durations";
import { sendMessage } from "../composer/sending";
import { ActionForm } from "../session/ActionForm";
import { useSession } from "../session/session";
import { fieldError, useAction } from "../session/useAction";
import { useChannelPermissions } from "../session/usePermissions";
import { threadName } from "./names";
import { useOpenThread } from "./useOpenThread";

interface ThreadFormProps {
  channel: APIChannel;
  /** The message that the thread is started from; null for none. */
  message: APIMessage | null;
  onClose: () => void;
}

/** Starts a thread, from a message or without one, and opens it. */
export default function ThreadForm(props: ThreadFormProps) {
  const text = useText();
  return (
    <Dialog title={text("thread.create")} onClose={props.onClose}>
      <WithChannelTexts>
        <Fields {...props} />
      </WithChannelTexts>
    </Dialog>
  );
}

function Fields({ channel, message, onClose }: ThreadFormProps) {
  const text = useText();
  const session = useSession();
  const action = useAction();
  const open = useOpenThread();
  const duration = useDuration();
  const permissions = useChannelPermissions(channel);
  const mayPublic = has(permissions, Permission.CreatePublicThreads);
  const mayPrivate =
    message === null &&
    channel.type === ChannelType.GuildText &&
    has(permissions, Permission.CreatePrivateThreads);
  const [name, setName] = useState(() => threadName(message?.content ?? ""));
  const [first, setFirst] = useState("");
  const [isPrivate, setPrivate] = useState(mayPrivate && !mayPublic);
  const [invitable, setInvitable] = useState(true);
  const [minutes, setMinutes] = useState(
    String(("default_auto_archive_duration" in channel && channel.default_auto_archive_duration) || 4320),
  );
  const submit = async () => {
    const settings = { name, auto_archive_duration: Number(minutes) };
    const type = isPrivate
      ? ChannelType.PrivateThread
      : channel.type === ChannelType.GuildAnnouncement
        ? ChannelType.AnnouncementThread
        : ChannelType.PublicThread;
    const thread = await (message === null
      ? startThread(session.api, channel.id, { ...settings, type, ...(isPrivate && { invitable }) })
      : startThreadFromMessage(session.api, channel.id, message.id, settings));
    session.store.update((state) => putThread(state, thread));
    if (first.trim() !== "") {
      void sendMessage(session, { channelId: thread.id, content: first.trim(), uploads: [], replyTo: null });
    }
    onClose();
    open({ guildId: guildIdOf(channel) ?? "", parentId: channel.id, threadId: thread.id });
  };
  return (
    <ActionForm
      action={action}
      onSubmit={() => void action.run(submit)}
      confirm={text("thread.create")}
      onCancel={onClose}
      isDisabled={name.trim() === ""}
    >
      <TextField
        label={text("thread.name")}
        value={name}
        onChange={setName}
        maxLength={100}
        isRequired
        autoFocus
        error={fieldError(action.error, "name")}
      />
      <TextField
        label={text("thread.firstMessage")}
        value={first}
        onChange={setFirst}
        maxLength={2000}
        multiline
      />
      {mayPrivate && (
        <Switch
          label={text("thread.isPrivate")}
          hint={text("thread.isPrivate.hint")}
          isSelected={isPrivate}
          isDisabled={!mayPublic}
          onChange={setPrivate}
        />
      )}
      {isPrivate && (
        <Switch label={text("thread.invitable")} isSelected={invitable} onChange={setInvitable} />
      )}
      <Select
        label={text("thread.autoArchive")}
        value={minutes}
        options={AUTO_ARCHIVE_MINUTES.map((each) => [String(each), duration(each * 60)])}
        onChange={setMinutes}
      />
    </ActionForm>
  );
}
