import type { APIGuildScheduledEvent } from "discord-api-types/v10";
import { useState } from "react";

import { createEvent, modifyEvent } from "../../api/events";
import { eventImageUrl } from "../../api/images";
import { useText } from "../../i18n/translate";
import { isActive, putScheduledEvent } from "../../store/scheduledEvents";
import { channelName } from "../../store/selectors";
import { TextField } from "../../ui/TextField";
import { ImageField } from "../../ui/fields";
import { Select } from "../../ui/Select";
import { ActionForm } from "../session/ActionForm";
import { useAppState, useSession } from "../session/session";
import { fieldError, useAction } from "../session/useAction";
import {
  changedFields,
  draftOf,
  ELSEWHERE,
  fieldsOf,
  MAX_DESCRIPTION,
  MAX_LOCATION,
  MAX_NAME,
  newDraft,
  problemOf,
  type EventDraft,
  type EventProblem,
} from "./fields";
import { RECURRENCES } from "./recurrence";
import { eventChannels, mayCreateElsewhere } from "./rules";

/** The fields of the API that show their own errors. */
const SHOWN = [
  "name",
  "channel_id",
  "scheduled_start_time",
  "scheduled_end_time",
  "recurrence_rule",
  "description",
  "image",
];
const LOCATION = "entity_metadata.location";

interface EventFormProps {
  guildId: string;
  /** Null for a new one. */
  event: APIGuildScheduledEvent | null;
  onClose: () => void;
}

/** Creates an event, or changes one. */
export function EventForm({ guildId, event, onClose }: EventFormProps) {
  const text = useText();
  const { api, store } = useSession();
  const action = useAction();
  const [channels] = useState(() => eventChannels(store.state, guildId));
  const [draft, setDraft] = useState(() =>
    event === null
      ? newDraft(
          channels.map(({ id }) => id),
          Date.now(),
        )
      : draftOf(event),
  );
  const [problem, setProblem] = useState<EventProblem | null>(null);
  const elsewhere = useAppState((state) => mayCreateElsewhere(state, guildId));
  const change = (fields: Partial<EventDraft>) => {
    setDraft({ ...draft, ...fields });
    setProblem(null);
  };
  const typeOf = (place: string) => store.state.channels[place]?.type;
  const hasBegun = event !== null && isActive(event);
  const save = async () => {
    const found = problemOf(draft, Date.now(), hasBegun);
    setProblem(found);
    if (found !== null) {
      return;
    }
    const fields = fieldsOf(draft, typeOf(draft.place));
    const before = event === null ? null : draftOf(event);
    const saved = await action.run(async () => {
      const stored = await (event === null || before === null
        ? createEvent(api, guildId, fields)
        : modifyEvent(api, event, changedFields(fieldsOf(before, typeOf(before.place)), fields)));
      store.update((state) => putScheduledEvent(state, stored));
    });
    if (saved) {
      onClose();
    }
  };
  const error = (names: readonly EventProblem[], field: string) =>
    problem !== null && names.includes(problem)
      ? text(`event.problem.${problem}`)
      : fieldError(action.error, field);
  return (
    <ActionForm
      action={action}
      shown={draft.place === ELSEWHERE ? [...SHOWN, LOCATION] : SHOWN}
      onSubmit={() => void save()}
      confirm={text(event === null ? "event.create" : "common.save")}
      onCancel={onClose}
    >
      <TextField
        label={text("event.field.name")}
        value={draft.name}
        onChange={(name) => change({ name })}
        maxLength={MAX_NAME}
        isRequired
        autoFocus
        error={error(["name"], "name")}
      />
      <Select
        label={text("event.field.place")}
        value={draft.place}
        options={[
          ...channels.map(({ id }) => [id, channelNameOf(id)] as const),
          ...(elsewhere || draft.place === ELSEWHERE
            ? ([[ELSEWHERE, text("event.field.elsewhere")]] as const)
            : []),
        ]}
        onChange={(place) => change({ place })}
        isDisabled={hasBegun}
        error={fieldError(action.error, "channel_id")}
      />
      {draft.place === ELSEWHERE && (
        <TextField
          label={text("event.field.location")}
          value={draft.location}
          onChange={(location) => change({ location })}
          maxLength={MAX_LOCATION}
          isRequired
          error={error(["location"], LOCATION)}
        />
      )}
      <div className="event-times">
        <TextField
          label={text("event.field.start")}
          type="datetime-local"
          value={draft.start}
          onChange={(start) => change({ start })}
          isDisabled={hasBegun}
          isRequired
          error={error(["start", "past"], "scheduled_start_time")}
        />
        <TextField
          label={text(draft.place === ELSEWHERE ? "event.field.end" : "event.field.endOptional")}
          type="datetime-local"
          value={draft.end}
          onChange={(end) => change({ end })}
          isRequired={draft.place === ELSEWHERE}
          error={error(["end", "order"], "scheduled_end_time")}
        />
      </div>
      <Select
        label={text("event.field.recurrence")}
        value={draft.recurrence}
        options={RECURRENCES.map((each) => [each, text(`event.recurrence.${each}`)])}
        onChange={(recurrence) => change({ recurrence })}
        isDisabled={hasBegun}
        error={fieldError(action.error, "recurrence_rule")}
      />
      <TextField
        label={text("event.field.description")}
        value={draft.description}
        onChange={(description) => change({ description })}
        maxLength={MAX_DESCRIPTION}
        multiline
        error={fieldError(action.error, "description")}
      />
      <ImageField
        label={text("event.field.image")}
        url={
          draft.image === undefined ? eventImageUrl(event?.id ?? "", event?.image ?? null, 320) : draft.image
        }
        shape="wide"
        onChange={(image) => change({ image })}
        error={fieldError(action.error, "image")}
      />
    </ActionForm>
  );

  function channelNameOf(id: string): string {
    const channel = store.state.channels[id];
    return channel === undefined ? id : channelName(store.state, channel);
  }
}
