import { useNavigate } from "@tanstack/react-router";
import type { APIChannel, APIUser } from "discord-api-types/v10";
import { Crown, UserMinus } from "lucide-react";
import { useState } from "react";

import { groupIconUrl } from "../../api/images";
import {
  addRecipient,
  closeDirectMessage,
  createGroup,
  modifyGroup,
  removeRecipient,
} from "../../api/relationships";
import type { Part } from "../../i18n/messages";
import { useText, WithTexts } from "../../i18n/translate";
import { filterRelationships } from "../../store/relationships";
import { channelName, displayName } from "../../store/selectors";
import { IconButton } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/TextField";
import { Checkbox, ImageField } from "../../ui/fields";
import { PresenceAvatar } from "../users/PresenceAvatar";
import { useOpenDirect } from "../friends/useOpenDirect";
import { ActionForm } from "../session/ActionForm";
import { Confirm } from "../session/Confirm";
import { ErrorNotice } from "../session/ErrorNotice";
import { useAppState, useSession } from "../session/session";
import { fieldError, useAction } from "../session/useAction";
import { recipientsOf } from "./recipients";
import "./groups.css";

/** Members of a group, its owner included. */
const MAX_MEMBERS = 10;
const PARTS: readonly Part[] = ["people"];

export type GroupDialogName = "create" | "add" | "settings" | "leave";

interface GroupDialogProps {
  name: GroupDialogName;
  /** Null for a new group. */
  channel: APIChannel | null;
  onClose: () => void;
}

/** The dialogs of group direct messages. */
export default function GroupDialog({ name, channel, onClose }: GroupDialogProps) {
  return (
    <WithTexts parts={PARTS}>
      {channel === null ? (
        <CreateGroup onClose={onClose} />
      ) : name === "add" ? (
        <AddPeople channel={channel} onClose={onClose} />
      ) : name === "settings" ? (
        <GroupSettings channel={channel} onClose={onClose} />
      ) : (
        <LeaveGroup channel={channel} onClose={onClose} />
      )}
    </WithTexts>
  );
}

/** The friends who are not in a list, for a choice. */
function useFriends(exceptIds: readonly string[]): APIUser[] {
  const relationships = useAppState((state) => state.relationships);
  const users = useAppState((state) => state.users);
  return filterRelationships({ relationships, users, presences: {} }, "all")
    .map(({ user }) => user)
    .filter((user) => !exceptIds.includes(user.id));
}

interface PeopleChoiceProps {
  users: readonly APIUser[];
  chosen: readonly string[];
  max: number;
  onChange: (ids: string[]) => void;
}

function PeopleChoice({ users, chosen, max, onChange }: PeopleChoiceProps) {
  const { store } = useSession();
  return (
    <div className="people-choice">
      {users.map((user) => {
        const name = displayName(store.state, user, null);
        const isSelected = chosen.includes(user.id);
        return (
          <Checkbox
            key={user.id}
            label={name === user.username ? name : `${name} (${user.username})`}
            isSelected={isSelected}
            isDisabled={!isSelected && chosen.length >= max}
            onChange={(selected) =>
              onChange(selected ? [...chosen, user.id] : chosen.filter((id) => id !== user.id))
            }
          />
        );
      })}
    </div>
  );
}

interface ChoiceDialogProps {
  title: string;
  hint?: string;
  none: string;
  submit: string;
  exceptIds: readonly string[];
  max: number;
  request: (ids: string[]) => Promise<unknown>;
  onClose: () => void;
}

/** Chooses friends and does something with them. */
function ChoiceDialog({ title, hint, none, submit, exceptIds, max, request, onClose }: ChoiceDialogProps) {
  const action = useAction();
  const friends = useFriends(exceptIds);
  const [chosen, setChosen] = useState<string[]>([]);
  const run = async () => {
    if (await action.run(() => request(chosen))) {
      onClose();
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <ActionForm
        action={action}
        onSubmit={() => void run()}
        confirm={submit}
        isDisabled={chosen.length === 0}
        onCancel={onClose}
      >
        {friends.length === 0 ? (
          <p className="field-hint">{none}</p>
        ) : (
          <>
            {hint !== undefined && <p className="field-hint">{hint}</p>}
            <PeopleChoice users={friends} chosen={chosen} max={max} onChange={setChosen} />
          </>
        )}
      </ActionForm>
    </Dialog>
  );
}

function CreateGroup({ onClose }: { onClose: () => void }) {
  const text = useText();
  const { account, api } = useSession();
  const { openChannel } = useOpenDirect();
  // The user's own id makes it a group with one friend too: one id alone is a direct message.
  const create = async (ids: string[]) => openChannel(await createGroup(api, [account.userId, ...ids]));
  return (
    <ChoiceDialog
      title={text("group.create.title")}
      hint={text("group.create.hint")}
      none={text("group.create.none")}
      submit={text("group.create.submit")}
      exceptIds={[]}
      max={MAX_MEMBERS - 1}
      request={create}
      onClose={onClose}
    />
  );
}

interface ChannelDialogProps {
  channel: APIChannel;
  onClose: () => void;
}

function AddPeople({ channel, onClose }: ChannelDialogProps) {
  const text = useText();
  const { api } = useSession();
  const { openChannel } = useOpenDirect();
  const memberIds = recipientsOf(channel).map((user) => user.id);
  const add = async (ids: string[]) => {
    let channelId = channel.id;
    for (const id of ids) {
      const created = await addRecipient(api, channelId, id);
      if (created !== undefined) {
        channelId = created.id;
        await openChannel(created);
      }
    }
  };
  return (
    <ChoiceDialog
      title={text("group.add.title")}
      none={text("group.add.none")}
      submit={text("group.add.submit")}
      exceptIds={memberIds}
      max={MAX_MEMBERS - 1 - memberIds.length}
      request={add}
      onClose={onClose}
    />
  );
}

function GroupSettings({ channel, onClose }: ChannelDialogProps) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const group = channel as { name?: string | null; icon?: string | null };
  const [name, setName] = useState(group.name ?? "");
  const [icon, setIcon] = useState<string | null | undefined>(undefined);
  const save = async () => {
    await modifyGroup(api, channel.id, {
      name: name.trim() === "" ? null : name.trim(),
      ...(icon !== undefined && { icon }),
    });
  };
  const submit = async () => {
    if (await action.run(save)) {
      onClose();
    }
  };
  return (
    <Dialog title={text("group.settings.title")} onClose={onClose}>
      <ActionForm
        action={action}
        shown={["name", "icon"]}
        onSubmit={() => void submit()}
        confirm={text("common.save")}
        onCancel={onClose}
      >
        <TextField
          label={text("group.settings.name")}
          hint={text("group.settings.nameHint")}
          value={name}
          onChange={setName}
          maxLength={100}
          autoFocus
          error={fieldError(action.error, "name")}
        />
        <ImageField
          label={text("group.settings.icon")}
          shape="round"
          url={icon === undefined ? groupIconUrl(channel.id, group.icon ?? null, 64) : icon}
          onChange={setIcon}
          error={fieldError(action.error, "icon")}
        />
        <GroupMembers channel={channel} />
      </ActionForm>
    </Dialog>
  );
}

function GroupMembers({ channel }: { channel: APIChannel }) {
  const text = useText();
  const { api, store } = useSession();
  const action = useAction();
  const self = useAppState((state) => state.user);
  const ownerId = "owner_id" in channel ? channel.owner_id : undefined;
  const isOwner = ownerId === self?.id;
  const members = self === null ? recipientsOf(channel) : [self, ...recipientsOf(channel)];
  return (
    <section aria-label={text("group.settings.members")}>
      <h3>{text("group.settings.members")}</h3>
      <ul className="people-list">
        {members.map((user) => {
          const name = displayName(store.state, user, null);
          return (
            <li key={user.id} className="people-row">
              <PresenceAvatar user={user} name={name} size={28} />
              <span className="people-name" dir="auto">
                {name}
              </span>
              {user.id === ownerId && <span className="field-hint">{text("group.settings.owner")}</span>}
              {isOwner && user.id !== self?.id && (
                <>
                  <IconButton
                    label={text("group.settings.promote", { name })}
                    isDisabled={action.pending}
                    onPress={() => void action.run(() => modifyGroup(api, channel.id, { owner: user.id }))}
                  >
                    <Crown size={18} />
                  </IconButton>
                  <IconButton
                    label={text("group.settings.remove", { name })}
                    isDisabled={action.pending}
                    onPress={() => void action.run(() => removeRecipient(api, channel.id, user.id))}
                  >
                    <UserMinus size={18} />
                  </IconButton>
                </>
              )}
            </li>
          );
        })}
      </ul>
      <ErrorNotice error={action.error} />
    </section>
  );
}

function LeaveGroup({ channel, onClose }: ChannelDialogProps) {
  const text = useText();
  const { api } = useSession();
  const navigate = useNavigate();
  const name = useAppState((state) => channelName(state, channel));
  const leave = async () => {
    await closeDirectMessage(api, channel.id);
    await navigate({ to: "/channels/@me" });
  };
  return (
    <Confirm
      title={text("group.leave.title")}
      question={text("group.leave.question", { name })}
      confirm={text("group.leave.title")}
      onConfirm={leave}
      onClose={onClose}
    />
  );
}
