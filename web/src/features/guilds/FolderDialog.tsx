import { useState } from "react";
import { Form } from "react-aria-components";

import { useText } from "../../i18n/translate";
import { DialogFooter } from "../../ui/DialogFooter";
import { Dialog, TextField } from "../../ui/controls";
import { ColorField } from "../../ui/fields";

interface FolderDialogProps {
  folder: { name: string | null; color: number | null };
  onChange: (changes: { name: string | null; color: number | null }) => void;
  onClose: () => void;
}

const DEFAULT_COLOR = 0x7a3e12;

/** The name and colour of a folder of guilds. */
export default function FolderDialog({ folder, onChange, onClose }: FolderDialogProps) {
  const text = useText();
  const [name, setName] = useState(folder.name ?? "");
  const [color, setColor] = useState(folder.color ?? DEFAULT_COLOR);
  return (
    <Dialog title={text("rail.editFolder")} onClose={onClose}>
      <Form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          onChange({ name: name.trim() === "" ? null : name.trim(), color });
          onClose();
        }}
      >
        <TextField
          label={text("rail.folderName")}
          value={name}
          onChange={setName}
          maxLength={100}
          autoFocus
        />
        <ColorField label={text("rail.folderColor")} value={color} onChange={setColor} />
        <DialogFooter confirm={text("common.save")} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
