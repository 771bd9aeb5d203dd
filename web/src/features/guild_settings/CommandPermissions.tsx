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
import { Dialog, IconButton } from "../../ui/controls";
import { Switch } from "../../ui/fields";
import { Picker } from "../../ui/Picker";
import { Select } from "../../ui/Select";
import { ActionForm } from "../session/ActionForm";
import { useAppState, useSession } from "../session/session";
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
  const [commandId, setCommandId] = useState(applicationId);
  return (
    <Dialog wide title={text("guildSettings.commands.title", { name })} onClose={onClose}>
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
                  applicationId={applicationId}
                  commandId={commandId}
                  before={permissionsOf(permissions, commandId)}
                  onSaved={() => void stored.refetch()}
                  onClose={onClose}
                />
              </div>
            )}
          </Loaded>
        )}
      </Loaded>
    </Dialog>
  );
}

function commandTitle(command: Command): string {
  return command.type === 1 ? `/${command.name}` : command.name;
}

function permissionsOf(stored: readonly Stored[], commandId: string): readonly CommandPermission[] {
  return stored.find((each) => each.id === commandId)?.permissions ?? [];
}

interface EditorProps {
  guild: GuildState;
  applicationId: string;
  /** The application's id for all commands. */
  commandId: string;
  before: readonly CommandPermission[];
  onSaved: () => void;
  onClose: () => void;
}

function Editor({ guild, applicationId, commandId, before, onSaved, onClose }: EditorProps) {
  const text = useText();
  const { api, store } = useSession();
  const action = useAction();
  const [permissions, setPermissions] = useState(before);
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
      setPermissions([...permissions, { id, type, permission: true }]);
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
  const save = async () => {
    const request = () => editCommandPermissions(api, applicationId, guild.id, commandId, permissions);
    if (await action.run(request)) {
      onSaved();
    }
  };
  return (
    <ActionForm
      action={action}
      confirm={text("common.save")}
      isDisabled={permissions === before}
      cancel={text("common.close")}
      onCancel={onClose}
      onSubmit={() => void save()}
    >
      {permissions.length === 0 && <p className="settings-empty">{text("guildSettings.commands.none")}</p>}
      <ul className="settings-list" aria-label={text("guildSettings.commands.list")}>
        {permissions.map((permission) => (
          <Row
            key={`${String(permission.type)} ${permission.id}`}
            permission={permission}
            guild={guild}
            onChange={(allowed) =>
              setPermissions(
                permissions.map((each) => (each === permission ? { ...each, permission: allowed } : each)),
              )
            }
            onRemove={() => setPermissions(permissions.filter((each) => each !== permission))}
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
    </ActionForm>
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
