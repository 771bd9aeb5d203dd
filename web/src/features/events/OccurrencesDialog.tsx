import type { APIGuildScheduledEvent } from "discord-api-types/v10";
import { CalendarClock, CalendarOff, RotateCcw, Users } from "lucide-react";
import { useState } from "react";
import { useIntl } from "react-intl";

import { deleteException, putException, type EventException } from "../../api/events";
import { useText } from "../../i18n/translate";
import { isActive } from "../../store/scheduledEvents";
import { Button, IconButton } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/TextField";
import { ActionForm } from "../session/ActionForm";
import { ErrorNotice } from "../session/ErrorNotice";
import { useAppState, useSession } from "../session/session";
import { fieldError, useAction, type Action } from "../session/useAction";
import { InterestedDialog } from "./InterestedDialog";
import { localInput, movedTimes, type MoveProblem } from "./fields";
import { occurrencesOf, type Occurrence } from "./occurrences";
import { mayManageEvent } from "./rules";
import { dayAndTime } from "./times";

const SHOWN = 10;
const MORE = 20;

interface OccurrencesDialogProps {
  event: APIGuildScheduledEvent;
  onClose: () => void;
}

/** The next dates of a recurring event; those who manage it move or cancel single ones. */
export function OccurrencesDialog({ event, onClose }: OccurrencesDialogProps) {
  const text = useText();
  const [count, setCount] = useState(SHOWN);
  const [moving, setMoving] = useState<Occurrence | null>(null);
  const { store } = useSession();
  const action = useAction();
  const mayManage = useAppState((state) => mayManageEvent(state, event));
  const occurrences = occurrencesOf(event, count);
  const active = isActive(event);
  if (moving !== null) {
    return (
      <Dialog title={text("event.date.move")} onClose={() => setMoving(null)}>
        <MoveForm event={event} occurrence={moving} onStored={announce} onClose={() => setMoving(null)} />
      </Dialog>
    );
  }
  return (
    <Dialog title={text("event.dates.of", { name: event.name })} onClose={onClose}>
      <ErrorNotice error={action.error} />
      <ol className="event-dates">
        {occurrences.map((occurrence) => (
          <OccurrenceRow
            key={occurrence.original}
            event={event}
            occurrence={occurrence}
            action={action}
            // One that is on is ended, not moved.
            mayManage={mayManage && !(active && occurrence === occurrences[0])}
            onMove={() => setMoving(occurrence)}
            onStored={announce}
          />
        ))}
      </ol>
      <div className="dialog-actions">
        {occurrences.length === count && (
          <Button onPress={() => setCount(count + MORE)}>{text("event.interested.more")}</Button>
        )}
        <Button onPress={onClose}>{text("common.close")}</Button>
      </div>
    </Dialog>
  );

  function announce(exception: EventException, exists: boolean): void {
    store.dispatch(`GUILD_SCHEDULED_EVENT_EXCEPTION_${exists ? "CREATE" : "DELETE"}`, exception);
  }
}

interface OccurrenceRowProps {
  event: APIGuildScheduledEvent;
  occurrence: Occurrence;
  action: Action;
  mayManage: boolean;
  onMove: () => void;
  onStored: (exception: EventException, exists: boolean) => void;
}

function OccurrenceRow({ event, occurrence, action, mayManage, onMove, onStored }: OccurrenceRowProps) {
  const text = useText();
  const intl = useIntl();
  const { api } = useSession();
  const { original, start, end, isCanceled, exception } = occurrence;
  const [listing, setListing] = useState(false);
  const date = intl.formatDate(original, { day: "numeric", month: "long", year: "numeric" });
  const cancel = async () => {
    onStored(await putException(api, event, original, { is_canceled: true }), true);
  };
  const restore = async () => {
    if (exception !== null) {
      await deleteException(api, event, exception.event_exception_id);
      onStored(exception, false);
    }
  };
  return (
    <li className="event-date" aria-label={date}>
      <span className="event-date-times">
        <time dateTime={new Date(start).toISOString()} className={isCanceled ? "event-date-canceled" : ""}>
          {dayAndTime(intl, start, end)}
        </time>
        {isCanceled ? (
          <span className="event-date-note event-date-off">{text("event.date.canceled")}</span>
        ) : (
          exception !== null && (
            <span className="event-date-note">
              {text("event.date.moved", { from: dayAndTime(intl, original, null) })}
            </span>
          )
        )}
      </span>
      <span className="event-date-actions">
        <IconButton label={text("event.date.responses")} onPress={() => setListing(true)}>
          <Users size={16} />
        </IconButton>
        {mayManage && (
          <>
            {exception !== null && (
              <IconButton
                label={text("event.date.restore")}
                isDisabled={action.pending}
                onPress={() => void action.run(restore)}
              >
                <RotateCcw size={16} />
              </IconButton>
            )}
            {!isCanceled && (
              <>
                <IconButton label={text("event.date.move")} isDisabled={action.pending} onPress={onMove}>
                  <CalendarClock size={16} />
                </IconButton>
                <IconButton
                  label={text("event.date.cancel")}
                  isDisabled={action.pending}
                  onPress={() => void action.run(cancel)}
                >
                  <CalendarOff size={16} />
                </IconButton>
              </>
            )}
          </>
        )}
      </span>
      {listing && (
        <InterestedDialog event={event} occurrence={{ original, date }} onClose={() => setListing(false)} />
      )}
    </li>
  );
}

interface MoveFormProps {
  event: APIGuildScheduledEvent;
  occurrence: Occurrence;
  onStored: (exception: EventException, exists: boolean) => void;
  onClose: () => void;
}

/** Moves one occurrence; its end moves along until it is set. */
function MoveForm({ event, occurrence, onStored, onClose }: MoveFormProps) {
  const text = useText();
  const intl = useIntl();
  const { api } = useSession();
  const action = useAction();
  const [start, setStart] = useState(() => localInput(occurrence.start));
  const [end, setEnd] = useState(() => (occurrence.end === null ? "" : localInput(occurrence.end)));
  const [problem, setProblem] = useState<MoveProblem | null>(null);
  const hasEnd = occurrence.end !== null;
  const save = async () => {
    const times = movedTimes(start, end, Date.now());
    if (typeof times === "string") {
      setProblem(times);
      return;
    }
    const saved = await action.run(async () =>
      onStored(await putException(api, event, occurrence.original, times), true),
    );
    if (saved) {
      onClose();
    }
  };
  const changeStart = (value: string) => {
    const distance = new Date(value).getTime() - new Date(start).getTime();
    setStart(value);
    setProblem(null);
    if (end !== "" && !Number.isNaN(distance)) {
      setEnd(localInput(new Date(end).getTime() + distance));
    }
  };
  const error = (names: readonly MoveProblem[], field: string) =>
    problem !== null && names.includes(problem)
      ? text(`event.problem.${problem}`)
      : fieldError(action.error, field);
  return (
    <ActionForm
      action={action}
      shown={["scheduled_start_time", "scheduled_end_time"]}
      onSubmit={() => void save()}
      confirm={text("common.save")}
      onCancel={onClose}
    >
      <p className="field-hint">
        {text("event.date.move.hint", { date: dayAndTime(intl, occurrence.original, null) })}
      </p>
      <div className="event-times">
        <TextField
          label={text("event.field.start")}
          type="datetime-local"
          value={start}
          onChange={changeStart}
          isRequired
          autoFocus
          error={error(["start", "past"], "scheduled_start_time")}
        />
        {hasEnd && (
          <TextField
            label={text("event.field.end")}
            type="datetime-local"
            value={end}
            onChange={(value) => {
              setEnd(value);
              setProblem(null);
            }}
            isRequired
            error={error(["order"], "scheduled_end_time")}
          />
        )}
      </div>
    </ActionForm>
  );
}
