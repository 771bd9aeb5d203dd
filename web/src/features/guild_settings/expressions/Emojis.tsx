import type { APIEmoji } from "discord-api-types/v10";
import { useState } from "react";

import { Permission } from "../../../api/enums";
import { createEmoji, deleteEmoji, listEmojis, modifyEmoji } from "../../../api/expressions";
import { emojiUrl } from "../../../api/images";
import { useText } from "../../../i18n/translate";
import { has } from "../../../store/permissions";
import type { GuildState } from "../../../store/state";
import { TextField } from "../../../ui/TextField";
import { FileButton, readDataUri } from "../../../ui/fields";
import { Picker } from "../../../ui/Picker";
import { ErrorNotice } from "../../session/ErrorNotice";
import { useAppState, useSession } from "../../session/session";
import { fieldError, useAction } from "../../session/useAction";
import { roleOptions } from "../../members/roleOptions";
import { Loaded, useGuildQuery } from "../queries";
import type { SectionProps } from "../section";
import { EditDialog, ExpressionRow } from "./ExpressionRow";
import { nameOfFile } from "./names";

/** The emojis of a guild: adds, renames, restricts and deletes them. */
export default function Emojis({ guild, permissions }: SectionProps) {
  const text = useText();
  const { api } = useSession();
  const upload = useAction();
  const query = useGuildQuery(guild.id, "emojis", listEmojis);
  const [editing, setEditing] = useState<APIEmoji | null>(null);
  const userId = useAppState((state) => state.user?.id);
  const canManage = has(permissions, Permission.ManageGuildExpressions);
  const add = async (file: File) => {
    await createEmoji(api, guild.id, { name: nameOfFile(file.name), image: await readDataUri(file) });
    await query.refetch();
  };
  return (
    <div className="settings-block">
      <p>{text("guildSettings.emojis.hint")}</p>
      {has(permissions, Permission.CreateGuildExpressions) && (
        <div className="settings-bar">
          <FileButton
            accept="image/png,image/jpeg,image/gif,image/webp,image/avif"
            isDisabled={upload.pending}
            onChoose={(file) => void upload.run(() => add(file))}
          >
            {text(upload.pending ? "guildSettings.uploading" : "guildSettings.emojis.add")}
          </FileButton>
        </div>
      )}
      <ErrorNotice error={upload.error} />
      <Loaded query={query}>
        {(emojis) => (
          <>
            <p className="settings-count">{text("guildSettings.emojis.count", { count: emojis.length })}</p>
            {emojis.length === 0 && <p className="settings-empty">{text("guildSettings.emojis.empty")}</p>}
            <ul className="settings-list" aria-label={text("guildSettings.emojis")}>
              {emojis.map((emoji) => (
                <ExpressionRow
                  key={emoji.id}
                  picture={<img src={emojiUrl(emoji.id ?? "", 32)} alt="" width={32} height={32} />}
                  name={`:${emoji.name ?? ""}:`}
                  creator={emoji.user}
                  note={emoji.roles?.map((id) => `@${guild.roles[id]?.name ?? id}`).join(", ")}
                  canChange={canManage || emoji.user?.id === userId}
                  onEdit={() => setEditing(emoji)}
                  onDelete={async () => {
                    await deleteEmoji(api, guild.id, emoji.id ?? "");
                    await query.refetch();
                  }}
                />
              ))}
            </ul>
          </>
        )}
      </Loaded>
      {editing !== null && (
        <EditEmoji
          guild={guild}
          emoji={editing}
          onClose={() => {
            setEditing(null);
            void query.refetch();
          }}
        />
      )}
    </div>
  );
}

function EditEmoji({ guild, emoji, onClose }: { guild: GuildState; emoji: APIEmoji; onClose: () => void }) {
  const text = useText();
  const { api } = useSession();
  const [name, setName] = useState(emoji.name ?? "");
  const [roles, setRoles] = useState<readonly string[]>(emoji.roles ?? []);
  return (
    <EditDialog
      title={`:${emoji.name ?? ""}:`}
      shown={["name", "roles"]}
      onSave={() => modifyEmoji(api, guild.id, emoji.id ?? "", { name, roles })}
      onClose={onClose}
    >
      {(error) => (
        <>
          <TextField
            label={text("guildSettings.expressions.name")}
            hint={text("guildSettings.emojis.name.hint")}
            value={name}
            onChange={setName}
            isRequired
            autoFocus
            maxLength={32}
            error={fieldError(error, "name")}
          />
          <Picker
            label={text("guildSettings.emojis.roles")}
            placeholder={text("guildSettings.emojis.everyone")}
            options={roleOptions(guild)}
            value={roles}
            onChange={setRoles}
            error={fieldError(error, "roles")}
          />
        </>
      )}
    </EditDialog>
  );
}
