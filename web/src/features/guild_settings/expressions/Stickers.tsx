import type { APISticker } from "discord-api-types/v10";
import { useState } from "react";

import { Permission } from "../../../api/enums";
import {
  createSticker,
  deleteSticker,
  listStickers,
  modifySticker,
  type StickerFields,
} from "../../../api/expressions";
import { useText } from "../../../i18n/translate";
import { has } from "../../../store/permissions";
import { Button } from "../../../ui/controls";
import { TextField } from "../../../ui/TextField";
import { FileButton } from "../../../ui/fields";
import { StickerImage } from "../../media/StickerImage";
import { useAppState, useSession } from "../../session/session";
import { fieldError } from "../../session/useAction";
import { Loaded, useGuildQuery } from "../queries";
import type { SectionProps } from "../section";
import { EditDialog, ExpressionRow } from "./ExpressionRow";

const NEW: StickerFields = { name: "", description: "", tags: "" };

/** The stickers of a guild: adds, changes and deletes them. */
export default function Stickers({ guild, permissions }: SectionProps) {
  const text = useText();
  const { api } = useSession();
  const query = useGuildQuery(guild.id, "stickers", listStickers);
  const [editing, setEditing] = useState<APISticker | "new" | null>(null);
  const userId = useAppState((state) => state.user?.id);
  const canManage = has(permissions, Permission.ManageGuildExpressions);
  return (
    <div className="settings-block">
      <p>{text("guildSettings.stickers.hint")}</p>
      {has(permissions, Permission.CreateGuildExpressions) && (
        <div className="settings-bar">
          <Button onPress={() => setEditing("new")}>{text("guildSettings.stickers.add")}</Button>
        </div>
      )}
      <Loaded query={query}>
        {(stickers) => (
          <>
            {stickers.length === 0 && (
              <p className="settings-empty">{text("guildSettings.stickers.empty")}</p>
            )}
            <ul className="settings-list" aria-label={text("guildSettings.stickers")}>
              {stickers.map((sticker) => (
                <ExpressionRow
                  key={sticker.id}
                  picture={
                    <StickerImage sticker={sticker} size={48} label="" className="expression-picture" />
                  }
                  name={sticker.name}
                  creator={sticker.user}
                  note={[sticker.tags, sticker.description].filter(Boolean).join(" · ")}
                  canChange={canManage || sticker.user?.id === userId}
                  onEdit={() => setEditing(sticker)}
                  onDelete={async () => {
                    await deleteSticker(api, guild.id, sticker.id);
                    await query.refetch();
                  }}
                />
              ))}
            </ul>
          </>
        )}
      </Loaded>
      {editing !== null && (
        <StickerDialog
          guildId={guild.id}
          sticker={editing === "new" ? null : editing}
          onClose={() => {
            setEditing(null);
            void query.refetch();
          }}
        />
      )}
    </div>
  );
}

interface StickerDialogProps {
  guildId: string;
  /** Null for a new one. */
  sticker: APISticker | null;
  onClose: () => void;
}

function StickerDialog({ guildId, sticker, onClose }: StickerDialogProps) {
  const text = useText();
  const { api } = useSession();
  const [file, setFile] = useState<File | null>(null);
  const [fields, setFields] = useState<StickerFields>(
    sticker === null
      ? NEW
      : { name: sticker.name, description: sticker.description ?? "", tags: sticker.tags },
  );
  const save = async () => {
    if (sticker !== null) {
      await modifySticker(api, guildId, sticker.id, fields);
    } else if (file !== null) {
      await createSticker(api, guildId, fields, file);
    }
  };
  const labels = {
    name: "guildSettings.expressions.name",
    tags: "guildSettings.stickers.tags",
    description: "guildSettings.stickers.description",
  } as const;
  return (
    <EditDialog
      title={sticker?.name ?? text("guildSettings.stickers.add")}
      shown={["name", "tags", "description", "file"]}
      isDisabled={sticker === null && file === null}
      onSave={save}
      onClose={onClose}
    >
      {(error) => (
        <>
          {sticker === null && (
            <div className="settings-bar">
              <FileButton accept="image/png,image/apng,image/gif,application/json,.json" onChoose={setFile}>
                {text("guildSettings.chooseFile")}
              </FileButton>
              <span className="settings-count">{file?.name}</span>
              {fieldError(error, "file") !== undefined && (
                <span className="field-error">{fieldError(error, "file")}</span>
              )}
            </div>
          )}
          {(["name", "tags", "description"] as const).map((field) => (
            <TextField
              key={field}
              label={text(labels[field])}
              value={fields[field]}
              onChange={(value) => setFields({ ...fields, [field]: value })}
              isRequired={field !== "description"}
              error={fieldError(error, field)}
            />
          ))}
        </>
      )}
    </EditDialog>
  );
}
