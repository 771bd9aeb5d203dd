import type { APIUser } from "discord-api-types/v10";
import { useState } from "react";
import { Form } from "react-aria-components";

import { blockUser, removeRelationship, setNickname, setNote } from "../../api/relationships";
import type { Part } from "../../i18n/messages";
import { useText, WithTexts } from "../../i18n/translate";
import type { Relationship } from "../../store/relationships";
import { Button, Dialog, TextField } from "../../ui/controls";
import { useAppState, useSession } from "../session/session";
import { fieldError, useAction, useErrorText } from "../session/useAction";

const PARTS: readonly Part[] = ["people"];

interface QuestionProps {
  title: string;
  question: string;
  confirm: string;
  request: () => Promise<unknown>;
  onClose: () => void;
}

/** Asks before something that cannot be undone at once. */
export function Question({ title, question, confirm, request, onClose }: QuestionProps) {
  const text = useText();
  const action = useAction();
  const errorText = useErrorText();
  const submit = async () => {
    if (await action.run(request)) {
      onClose();
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{question}</p>
      {action.error !== null && (
        <p role="alert" className="notice notice-danger">
          {errorText(action.error)}
        </p>
      )}
      <div className="dialog-actions">
        <Button onPress={onClose}>{text("common.cancel")}</Button>
        <Button kind="danger" isDisabled={action.pending} onPress={() => void submit()}>
          {confirm}
        </Button>
      </div>
    </Dialog>
  );
}

interface UserDialogProps {
  user: APIUser;
  name: string;
  onClose: () => void;
}

export function RemoveFriend({ user, name, onClose }: UserDialogProps) {
  const text = useText();
  const { api } = useSession();
  return (
    <Question
      title={text("friends.remove")}
      question={text("friends.remove.question", { name })}
      confirm={text("friends.remove")}
      request={() => removeRelationship(api, user.id)}
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
    <Question
      title={text("friends.block.title", { name })}
      question={text("friends.block.question", { name })}
      confirm={text("member.block")}
      request={() => blockUser(api, user.id)}
      onClose={onClose}
    />
  );
}

/** The nickname of a friend and the user's note about them. */
export function EditFriend({ relationship, onClose }: { relationship: Relationship; onClose: () => void }) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const errorText = useErrorText();
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
  const ownError = fieldError(action.error, "nickname") ?? fieldError(action.error, "note");
  return (
    <Dialog title={text("friends.edit")} onClose={onClose}>
      <Form
        className="stack"
        validationBehavior="aria"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
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
        {action.error !== null && ownError === undefined && (
          <p role="alert" className="notice notice-danger">
            {errorText(action.error)}
          </p>
        )}
        <div className="dialog-actions">
          <Button onPress={onClose}>{text("common.cancel")}</Button>
          <Button type="submit" kind="primary" isDisabled={action.pending}>
            {text("common.save")}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
