import type { APIUser } from "discord-api-types/v10";
import { Pencil, Trash2 } from "lucide-react";
import { useState, type ReactNode } from "react";
import { Form } from "react-aria-components";

import { useText } from "../../../i18n/translate";
import { DialogFooter } from "../../../ui/DialogFooter";
import { IconButton } from "../../../ui/controls";
import { Dialog } from "../../../ui/Dialog";
import { ErrorNotice } from "../../session/ErrorNotice";
import { useAction } from "../../session/useAction";
import { Confirm } from "../../session/Confirm";

interface ExpressionRowProps {
  picture: ReactNode;
  name: string;
  creator: APIUser | undefined;
  note: string | undefined;
  canChange: boolean;
  onEdit: () => void;
  onDelete: () => Promise<unknown>;
  /** Further controls. */
  children?: ReactNode;
}

/** An emoji, sticker or sound in a list. */
export function ExpressionRow(props: ExpressionRowProps) {
  const { picture, name, creator, note, canChange, onEdit, onDelete, children } = props;
  const text = useText();
  const [deleting, setDeleting] = useState(false);
  const details = [
    creator && text("guildSettings.createdBy", { name: creator.global_name ?? creator.username }),
    note,
  ];
  return (
    <li className="settings-row">
      {picture}
      <span className="settings-row-text">
        <strong>{name}</strong>
        <span>{details.filter(Boolean).join(" · ")}</span>
      </span>
      <span className="settings-row-actions">
        {children}
        {canChange && (
          <>
            <IconButton label={text("guildSettings.edit", { name })} onPress={onEdit}>
              <Pencil size={18} />
            </IconButton>
            <IconButton label={text("guildSettings.deleteNamed", { name })} onPress={() => setDeleting(true)}>
              <Trash2 size={18} />
            </IconButton>
          </>
        )}
      </span>
      {deleting && (
        <Confirm
          title={text("guildSettings.deleteNamed", { name })}
          question={text("guildSettings.deleteNamed.question")}
          confirm={text("common.delete")}
          onConfirm={onDelete}
          onClose={() => setDeleting(false)}
        />
      )}
    </li>
  );
}

interface EditDialogProps {
  title: string;
  /** The paths of the fields that show their own errors. */
  shown: readonly string[];
  onSave: () => Promise<unknown>;
  onClose: () => void;
  isDisabled?: boolean;
  children: (error: unknown) => ReactNode;
}

/** A dialog with a form that closes once it is saved. */
export function EditDialog({ title, shown, onSave, onClose, isDisabled = false, children }: EditDialogProps) {
  const text = useText();
  const action = useAction();
  const save = async () => {
    if (await action.run(onSave)) {
      onClose();
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        className="stack"
        validationBehavior="aria"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        {children(action.error)}
        <ErrorNotice error={action.error} shown={shown} />
        <DialogFooter
          confirm={text(action.pending ? "common.saving" : "common.save")}
          isDisabled={action.pending || isDisabled}
          onCancel={onClose}
        />
      </Form>
    </Dialog>
  );
}
