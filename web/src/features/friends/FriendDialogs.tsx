import type { APIUser } from "discord-api-types/v10";
import { useState } from "react";

import { blockUser, removeRelationship, setNickname, setNote } from "../../api/relationships";
import type { Part } from "../../i18n/messages";
import { useText, WithTexts } from "../../i18n/translate";
import type { Relationship } from "../../store/entities";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/TextField";
import { ActionForm } from "../session/ActionForm";
import { Confirm } from "../session/Confirm";
import { useAppState, useSession } from "../session/session";
import { fieldError, useAction } from "../session/useAction";

const PARTS: readonly Part[] = ["people"];

interface UserDialogProps {
  user: APIUser;
  name: string;
  onClose: () => void;
}

export function RemoveFriend({ user, name, onClose }: UserDialogProps) {
  const text = useText();
  const { api } = useSession();
  return (
    <Confirm
      title={text("friends.remove")}
      question={text("friends.remove.question", { name })}
      confirm={text("friends.remove")}
      onConfirm={() => removeRelationship(api, user.id)}
      onClose={onClose}
    />
  );
}

/** Blocks a user after a question. */
export function BlockDialog(props: UserDialogProps) {
  return (
    <WithTexts parts={PARTS}>
      <BlockQuestion {...props} />
    </WithTexts>
  );
}

function BlockQuestion({ user, name, onClose }: UserDialogProps) {
  const text = useText();
  const { api } = useSession();
  return (
    <Confirm
      title={text("friends.block.title", { name })}
      question={text("friends.block.question", { name })}
      confirm={text("member.block")}
      onConfirm={() => blockUser(api, user.id)}
      onClose={onClose}
    />
  );
}

/** The nickname of a friend and the user's note about them. */
export function EditFriend({ relationship, onClose }: { relationship: Relationship; onClose: () => void }) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const noteBefore = useAppState((state) => state.notes[relationship.id] ?? "");
  const [nickname, setNicknameText] = useState(relationship.nickname ?? "");
  const [note, setNoteText] = useState(noteBefore);
  const save = async () => {
    if (nickname.trim() !== (relationship.nickname ?? "")) {
      await setNickname(api, relationship.id, nickname.trim() === "" ? null : nickname.trim());
    }
    if (note !== noteBefore) {
      await setNote(api, relationship.id, note);
    }
  };
  const submit = async () => {
    if (await action.run(save)) {
      onClose();
    }
  };
  return (
    <Dialog title={text("friends.edit")} onClose={onClose}>
      <ActionForm
        action={action}
        shown={["nickname", "note"]}
        onSubmit={() => void submit()}
        confirm={text("common.save")}
        onCancel={onClose}
      >
        <TextField
          label={text("friends.edit.nickname")}
          hint={text("friends.edit.nicknameHint")}
          value={nickname}
          onChange={setNicknameText}
          autoFocus
          maxLength={32}
          error={fieldError(action.error, "nickname")}
        />
        <TextField
          label={text("friends.edit.note")}
          hint={text("friends.edit.noteHint")}
          value={note}
          onChange={setNoteText}
          multiline
          maxLength={256}
          error={fieldError(action.error, "note")}
        />
      </ActionForm>
    </Dialog>
  );
}
