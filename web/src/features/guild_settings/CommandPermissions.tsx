import { Trash2 } from "lucide-react";
import { useEffect, useMemo, useState } from "react";

import {
  CommandPermissionType,
  editCommandPermissions,
  getGuildCommandIndex,
  listCommandPermissions,
  type Command,
  type CommandPermission,
  type CommandPermissions as Stored,
} from "../../api/commands";
import { getMember } from "../../api/users";
import { useText } from "../../i18n/translate";
import { channelName, displayName, visibleChannelGroups } from "../../store/selectors";
import type { GuildState } from "../../store/state";
import { IconButton } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { Switch } from "../../ui/fields";
import { Picker } from "../../ui/Picker";
import { Select } from "../../ui/Select";
import { ErrorNotice } from "../session/ErrorNotice";
import { useAppState, useSession } from "../session/session";
import { SaveBar, useCloseGuard, type Draft } from "../session/Unsaved";
import { useAction } from "../session/useAction";
import { MemberField } from "../members/MemberField";
import { Loaded, useGuildQuery } from "./queries";

interface CommandPermissionsProps {
  guild: GuildState;
  applicationId: string;
  name: string;
  onClose: () => void;
}

/** Who may use the commands of an application, and where: for all of them, and for each. */
export default function CommandPermissions({ guild, applicationId, name, onClose }: CommandPermissionsProps) {
  const text = useText();
  const commands = useGuildQuery(guild.id, "commands", getGuildCommandIndex);
  const stored = useGuildQuery(guild.id, `permissions ${applicationId}`, (api, guildId) =>
    listCommandPermissions(api, applicationId, guildId),
  );
  const { api } = useSession();
  const action = useAction();
  const [commandId, setCommandId] = useState(applicationId);
  // One draft for all commands: choosing another one keeps what is changed.
  const [drafts, setDrafts] = useState<Drafts>({});
  const before = (id: string) => permissionsOf(stored.data ?? [], id);
  const changedIds = Object.keys(drafts).filter((id) => !isSame(drafts[id] ?? [], before(id)));
  const titleOf = (id: string) => {
    const command = commands.data?.application_commands.find((each) => each.id === id);
    return command === undefined ? text("guildSettings.commands.all") : commandTitle(command);
  };
  const draft: Draft = {
    isDirty: changedIds.length > 0,
    pending: action.pending,
    reset: () => setDrafts({}),
    save: () =>
      action.run(async () => {
        for (const id of changedIds) {
          await editCommandPermissions(api, applicationId, guild.id, id, drafts[id] ?? []);
        }
        await stored.refetch();
        setDrafts({});
      }),
  };
  const { close, guard } = useCloseGuard(draft, onClose);
  return (
    <Dialog wide title={text("guildSettings.commands.title", { name })} onClose={close}>
      <Loaded query={commands}>
        {(index) => (
          <Loaded query={stored}>
            {(permissions) => (
              <div className="stack">
                <Select
                  label={text("guildSettings.commands.command")}
                  value={commandId}
                  options={[
                    [applicationId, text("guildSettings.commands.all")],
                    ...index.application_commands
                      .filter((command) => command.application_id === applicationId)
                      .map((command) => [command.id, commandTitle(command)] as const),
                  ]}
                  onChange={setCommandId}
                />
                <Editor
                  key={commandId}
                  guild={guild}
                  before={permissionsOf(permissions, commandId)}
                  permissions={drafts[commandId] ?? permissionsOf(permissions, commandId)}
                  onChange={(changed) => setDrafts((others) => ({ ...others, [commandId]: changed }))}
                />
              </div>
            )}
          </Loaded>
        )}
      </Loaded>
      <ErrorNotice error={action.error} />
      <SaveBar draft={draft} what={changedIds.map(titleOf)} />
      {guard}
    </Dialog>
  );
}

type Drafts = Readonly<Record<string, readonly CommandPermission[]>>;

function isSame(a: readonly CommandPermission[], b: readonly CommandPermission[]): boolean {
  const keyOf = ({ id, type, permission }: CommandPermission) =>
    `${String(type)} ${id} ${String(permission)}`;
  return a.map(keyOf).sort().join() === b.map(keyOf).sort().join();
}

function commandTitle(command: Command): string {
  return command.type === 1 ? `/${command.name}` : command.name;
}

function permissionsOf(stored: readonly Stored[], commandId: string): readonly CommandPermission[] {
  return stored.find((each) => each.id === commandId)?.permissions ?? [];
}

interface EditorProps {
  guild: GuildState;
  before: readonly CommandPermission[];
  permissions: readonly CommandPermission[];
  onChange: (permissions: readonly CommandPermission[]) => void;
}

function Editor({ guild, before, permissions, onChange }: EditorProps) {
  const text = useText();
  const { api, store } = useSession();
  const roles = useMemo(
    () =>
      Object.values(guild.roles)
        .sort((a, b) => b.position - a.position)
        .map((role) => ({ id: role.id, name: `@${role.name.replace(/^@/, "")}` })),
    [guild.roles],
  );
  const channels = useMemo(
    () => [
      { id: allChannels(guild.id), name: text("guildSettings.commands.allChannels") },
      ...visibleChannelGroups(store.state, guild.id)
        .flatMap((group) => group.channels)
        .map((channel) => ({ id: channel.id, name: `#${channelName(store.state, channel)}` })),
    ],
    [store, guild.id, text],
  );
  const add = (id: string | undefined, type: CommandPermission["type"]) => {
    if (id !== undefined && !permissions.some((each) => each.id === id && each.type === type)) {
      onChange([...permissions, { id, type, permission: true }]);
    }
  };
  const isUnlisted = (type: CommandPermission["type"]) => (option: { id: string }) =>
    !permissions.some((each) => each.id === option.id && each.type === type);
  useEffect(() => {
    const abort = new AbortController();
    for (const { id, type } of before) {
      if (type === CommandPermissionType.User && store.state.users[id] === undefined) {
        getMember(api, guild.id, id, abort.signal).then(
          (member) => store.dispatch("GUILD_MEMBERS_CHUNK", { guild_id: guild.id, members: [member] }),
          () => undefined,
        );
      }
    }
    return () => abort.abort();
  }, [api, store, guild.id, before]);
  return (
    <>
      {permissions.length === 0 && <p className="settings-empty">{text("guildSettings.commands.none")}</p>}
      <ul className="settings-list" aria-label={text("guildSettings.commands.list")}>
        {permissions.map((permission) => (
          <Row
            key={`${String(permission.type)} ${permission.id}`}
            permission={permission}
            guild={guild}
            onChange={(allowed) =>
              onChange(
                permissions.map((each) => (each === permission ? { ...each, permission: allowed } : each)),
              )
            }
            onRemove={() => onChange(permissions.filter((each) => each !== permission))}
          />
        ))}
      </ul>
      <div className="command-permission-fields">
        <Picker
          label={text("guildSettings.commands.addRole")}
          options={roles.filter(isUnlisted(CommandPermissionType.Role))}
          value={[]}
          onChange={([id]) => add(id, CommandPermissionType.Role)}
        />
        <Picker
          label={text("guildSettings.commands.addChannel")}
          options={channels.filter(isUnlisted(CommandPermissionType.Channel))}
          value={[]}
          onChange={([id]) => add(id, CommandPermissionType.Channel)}
        />
        <MemberField
          label={text("guildSettings.commands.addMember")}
          guildId={guild.id}
          clears
          onChange={(member) => {
            if (member !== null) {
              store.dispatch("GUILD_MEMBERS_CHUNK", { guild_id: guild.id, members: [member] });
              add(member.user.id, CommandPermissionType.User);
            }
          }}
        />
      </div>
    </>
  );
}

interface RowProps {
  permission: CommandPermission;
  guild: GuildState;
  onChange: (allowed: boolean) => void;
  onRemove: () => void;
}

function Row({ permission, guild, onChange, onRemove }: RowProps) {
  const text = useText();
  const { id, type } = permission;
  const stored = useAppState((state) => {
    if (type === CommandPermissionType.Role) {
      const role = guild.roles[id];
      return role === undefined ? id : `@${role.name.replace(/^@/, "")}`;
    }
    if (type === CommandPermissionType.User) {
      const user = state.users[id];
      return user === undefined ? id : displayName(state, user, guild.id);
    }
    const channel = state.channels[id];
    return channel === undefined ? id : `#${channelName(state, channel)}`;
  });
  const isAllChannels = type === CommandPermissionType.Channel && id === allChannels(guild.id);
  const name = isAllChannels ? text("guildSettings.commands.allChannels") : stored;
  return (
    <li className="settings-row">
      <span className="settings-row-text">
        <Switch label={name} isSelected={permission.permission} onChange={onChange} />
      </span>
      <span className="settings-row-actions">
        <IconButton label={text("guildSettings.commands.remove", { name })} onPress={onRemove}>
          <Trash2 size={18} />
        </IconButton>
      </span>
    </li>
  );
}

/** The id that stands for all channels of a guild. */
function allChannels(guildId: string): string {
  return String(BigInt(guildId) - 1n);
}
