import { useBlocker } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";

import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import "./unsaved.css";

/** What a form tells the bar that saves it. */
export interface Draft {
  isDirty: boolean;
  pending: boolean;
  /** Save the changes; returns whether it succeeded. */
  save: () => Promise<boolean>;
  reset: () => void;
}

interface SaveBarProps {
  draft: Draft;
  /** The names of what is not saved, for drafts of which a part is in sight. */
  what?: readonly string[];
  isDisabled?: boolean;
  /** Whether the button submits the form that the bar is in, instead of saving by itself. */
  submits?: boolean;
}

/** Saves the changes of a form or takes them back. It is in view as long as there are any. */
export function SaveBar({ draft, what = [], isDisabled = false, submits = false }: SaveBarProps) {
  const text = useText();
  if (!draft.isDirty) {
    return null;
  }
  const save = submits ? ({ type: "submit" } as const) : { onPress: () => void draft.save() };
  return (
    <div className="save-bar" role="region" aria-label={text("unsaved.title")}>
      <span>{what.length === 0 ? text("unsaved.title") : text("unsaved.of", { what: what.join(", ") })}</span>
      <Button onPress={draft.reset} isDisabled={draft.pending}>
        {text("unsaved.reset")}
      </Button>
      <Button kind="primary" isDisabled={draft.pending || isDisabled} {...save}>
        {text(draft.pending ? "common.saving" : "common.save")}
      </Button>
    </div>
  );
}

interface QuestionProps {
  draft: Draft;
  onStay: () => void;
  onLeave: () => void;
}

/** What to do with changes that are not saved. */
function Question({ draft, onStay, onLeave }: QuestionProps) {
  const text = useText();
  const save = async () => {
    if (await draft.save()) {
      onLeave();
    } else {
      onStay();
    }
  };
  return (
    <Dialog title={text("unsaved.title")} onClose={onStay}>
      <p>{text("unsaved.question")}</p>
      <div className="dialog-actions">
        <Button onPress={onStay}>{text("unsaved.stay")}</Button>
        <Button kind="danger" onPress={onLeave}>
          {text("unsaved.discard")}
        </Button>
        <Button kind="primary" isDisabled={draft.pending} onPress={() => void save()}>
          {text("common.save")}
        </Button>
      </div>
    </Dialog>
  );
}

interface LeaveGuardProps {
  draft: Draft;
  /** The path of the screens that share the draft, between which one goes without a question. */
  within?: string;
}

/** Asks what to do with changes that are not saved, when the user leaves the page. */
export function LeaveGuard({ draft, within }: LeaveGuardProps) {
  const blocker = useBlocker({
    shouldBlockFn: ({ next }) =>
      draft.isDirty && (within === undefined || !`${next.pathname}/`.startsWith(`${within}/`)),
    enableBeforeUnload: draft.isDirty,
    withResolver: true,
  });
  return blocker.status === "blocked" ? (
    <Question draft={draft} onStay={blocker.reset} onLeave={blocker.proceed} />
  ) : null;
}

/** Asks the same when the user closes a dialog: returns what closes it, and the question. */
export function useCloseGuard(draft: Draft, onClose: () => void): { close: () => void; guard: ReactNode } {
  const [asks, setAsks] = useState(false);
  return {
    close: () => (draft.isDirty ? setAsks(true) : onClose()),
    guard: (
      <>
        {asks && <Question draft={draft} onStay={() => setAsks(false)} onLeave={onClose} />}
        <LeaveGuard draft={draft} />
      </>
    ),
  };
}
