import { useState } from "react";

import { useText } from "../../i18n/translate";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/TextField";
import { ColorField } from "../../ui/ColorField";
import { ActionForm } from "../session/ActionForm";
import { fieldError, useAction } from "../session/useAction";

interface FolderDialogProps {
  folder: { name: string | null; color: number | null };
  /** Where the folder is in the settings that the API takes. */
  path: string;
  onSave: (changes: { name: string | null; color: number | null }) => Promise<unknown>;
  onClose: () => void;
}

const DEFAULT_COLOR = 0xae4011;

/** The name and colour of a folder of guilds. */
export default function FolderDialog({ folder, path, onSave, onClose }: FolderDialogProps) {
  const text = useText();
  const action = useAction();
  const [name, setName] = useState(folder.name ?? "");
  const [color, setColor] = useState(folder.color ?? DEFAULT_COLOR);
  const [namePath, colorPath] = [`${path}.name`, `${path}.color`];
  const save = async () => {
    if (await action.run(() => onSave({ name: name.trim() === "" ? null : name.trim(), color }))) {
      onClose();
    }
  };
  return (
    <Dialog title={text("rail.editFolder")} onClose={onClose}>
      <ActionForm
        action={action}
        shown={[namePath, colorPath]}
        onSubmit={() => void save()}
        confirm={text("common.save")}
        onCancel={onClose}
      >
        <TextField
          label={text("rail.folderName")}
          value={name}
          onChange={setName}
          maxLength={100}
          autoFocus
          error={fieldError(action.error, namePath)}
        />
        <ColorField
          label={text("rail.folderColor")}
          value={color}
          onChange={setColor}
          error={fieldError(action.error, colorPath)}
        />
      </ActionForm>
    </Dialog>
  );
}
