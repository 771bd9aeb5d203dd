import type { APIThreadChannel } from "discord-api-types/v10";
import { useState } from "react";

import { modifyChannel, type ChannelChanges } from "../../api/channels";
import { ChannelType, Permission } from "../../api/enums";
import { useText } from "../../i18n/translate";
import { has } from "../../store/permissions";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/TextField";
import { Switch } from "../../ui/fields";
import { Select } from "../../ui/Select";
import { AUTO_ARCHIVE_MINUTES, SLOW_MODE_SECONDS, useDuration } from "../channels/durations";
import { ActionForm } from "../session/ActionForm";
import { useAppState, useSession } from "../session/session";
import { fieldError, useAction } from "../session/useAction";
import { useChannelPermissions } from "../session/usePermissions";
import { TagPicker } from "./TagPicker";

interface ThreadSettingsProps {
  thread: APIThreadChannel;
  inForum: boolean;
  onClose: () => void;
}

/** Edits a thread, or a post with its tags. */
export default function ThreadSettings({ thread, inForum, onClose }: ThreadSettingsProps) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const duration = useDuration();
  const manages = has(useChannelPermissions(thread), Permission.ManageThreads);
  const forum = useAppState((state) => (inForum ? state.channels[thread.parent_id ?? ""] : undefined));
  const [name, setName] = useState(thread.name);
  const [minutes, setMinutes] = useState(String(thread.thread_metadata?.auto_archive_duration ?? 4320));
  const [seconds, setSeconds] = useState(String(thread.rate_limit_per_user ?? 0));
  const [invitable, setInvitable] = useState(thread.thread_metadata?.invitable !== false);
  const [tags, setTags] = useState<readonly string[]>(thread.applied_tags ?? []);
  const save = async () => {
    const body: ChannelChanges = {
      name,
      auto_archive_duration: Number(minutes),
      ...(manages && { rate_limit_per_user: Number(seconds) }),
      ...(thread.type === ChannelType.PrivateThread && { invitable }),
      ...(inForum && { applied_tags: tags }),
    };
    if (await action.run(() => modifyChannel(api, thread.id, body))) {
      onClose();
    }
  };
  return (
    <Dialog title={text("thread.settings")} onClose={onClose}>
      <ActionForm
        action={action}
        onSubmit={() => void save()}
        confirm={text("common.save")}
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
        {forum !== undefined && "available_tags" in forum && forum.available_tags.length > 0 && (
          <TagPicker tags={forum.available_tags} value={tags} mayModerate={manages} onChange={setTags} />
        )}
        <Select
          label={text("thread.autoArchive")}
          value={minutes}
          options={AUTO_ARCHIVE_MINUTES.map((each) => [String(each), duration(each * 60)])}
          onChange={setMinutes}
        />
        {manages && (
          <Select
            label={text("thread.slowMode")}
            hint={text("thread.slowMode.hint")}
            value={seconds}
            options={SLOW_MODE_SECONDS.map((each) => [
              String(each),
              each === 0 ? text("thread.slowMode.off") : duration(each),
            ])}
            onChange={setSeconds}
          />
        )}
        {thread.type === ChannelType.PrivateThread && (
          <Switch label={text("thread.invitable")} isSelected={invitable} onChange={setInvitable} />
        )}
      </ActionForm>
    </Dialog>
  );
}
