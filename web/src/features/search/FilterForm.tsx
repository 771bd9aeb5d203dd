import { X } from "lucide-react";
import { useState } from "react";
import { Button as AriaButton, ToggleButton } from "react-aria-components";

import type { MessageId } from "../../i18n/messages";
import { useText } from "../../i18n/translate";
import { channelName, displayName } from "../../store/selectors";
import type { SearchScope } from "../../api/search";
import type { State } from "../../store/state";
import { ComboField, type ComboItem } from "../../ui/ComboField";
import { TextField } from "../../ui/TextField";
import { Select } from "../../ui/Select";
import { channelChoices, memberChoices, userChoices } from "../completion/choices";
import { useMemberSearch } from "../completion/useMemberSearch";
import { useAppState, useDerived, useSession } from "../session/session";
import { AUTHOR_TYPES, HAS_VALUES, SORTS, type SearchFilters } from "./filters";

interface FilterFormProps {
  scope: SearchScope;
  filters: SearchFilters;
  onChange: (filters: SearchFilters) => void;
}

/** A control for each filter. */
export function FilterForm({ scope, filters, onChange }: FilterFormProps) {
  const text = useText();
  const [userQuery, setUserQuery] = useState("");
  const add = (list: "authorIds" | "mentionIds" | "channelIds", id: string) =>
    onChange({ ...filters, [list]: [...new Set([...filters[list], id])] });
  const { store } = useSession();
  const { guildId } = scope;
  const channel = useAppState((state) =>
    scope.guildId === null ? state.channels[scope.channelId] : undefined,
  );
  useAppState((state) => state.members[guildId ?? ""]);
  useMemberSearch(guildId, userQuery);
  const users = (query: string) => {
    if (guildId !== null) {
      return memberChoices(store.state, guildId, query);
    }
    return channel === undefined ? [] : userChoices(store.state, channel, query);
  };
  return (
    <div className="search-filters">
      <AddField
        label={text("search.from")}
        items={users}
        onText={setUserQuery}
        onAdd={(id) => add("authorIds", id)}
      />
      {guildId !== null && (
        <AddField
          label={text("search.in")}
          items={(query) => channelChoices(store.state, guildId, undefined, query)}
          onAdd={(id) => add("channelIds", id)}
        />
      )}
      <AddField
        label={text("search.mentions")}
        items={users}
        onText={setUserQuery}
        onAdd={(id) => add("mentionIds", id)}
      />
      <fieldset className="field search-has">
        <legend>{text("search.has")}</legend>
        {HAS_VALUES.map((value) => (
          <ToggleButton
            key={value}
            className="chip"
            isSelected={filters.has.includes(value)}
            onChange={(selected) =>
              onChange({
                ...filters,
                has: selected ? [...filters.has, value] : filters.has.filter((each) => each !== value),
              })
            }
          >
            {text(`search.has.${value}`)}
          </ToggleButton>
        ))}
      </fieldset>
      {(["after", "before", "during"] as const).map((name) => (
        <DayField
          key={name}
          label={text(`search.${name}`)}
          value={filters[name]}
          onChange={(value) => onChange({ ...filters, [name]: value })}
        />
      ))}
      <Choice
        label={text("search.author")}
        value={filters.authorType}
        options={AUTHOR_TYPES}
        textOf={(value) => `search.author.${value}`}
        onChange={(authorType) => onChange({ ...filters, authorType })}
      />
      <Choice
        label={text("search.pinned")}
        value={filters.pinned === null ? null : filters.pinned ? "true" : "false"}
        options={["true", "false"] as const}
        textOf={(value) => `search.pinned.${value}`}
        onChange={(value) => onChange({ ...filters, pinned: value === null ? null : value === "true" })}
      />
      <Choice
        label={text("search.sort")}
        value={filters.sort}
        options={SORTS}
        textOf={(value) => `search.sort.${value}`}
        onChange={(sort) => onChange({ ...filters, sort: sort ?? "newest" })}
        isRequired
      />
    </div>
  );
}

interface AddFieldProps {
  label: string;
  items: (query: string) => readonly ComboItem[];
  onText?: (text: string) => void;
  onAdd: (id: string) => void;
}

/** A field that is empty again after each value that was chosen. */
function AddField({ label, items, onText, onAdd }: AddFieldProps) {
  const text = useText();
  const [query, setQuery] = useState("");
  const change = (value: string) => {
    setQuery(value);
    onText?.(value);
  };
  return (
    <ComboField
      label={label}
      items={items(query)}
      text={query}
      onText={change}
      selectedId={null}
      onSelect={(item) => {
        if (item !== null) {
          onAdd(item.id);
          change("");
        }
      }}
      emptyText={text("command.choices.none")}
    />
  );
}

interface DayFieldProps {
  label: string;
  value: string | null;
  onChange: (value: string | null) => void;
}

/** A day, chosen by the device's own calendar. */
function DayField({ label, value, onChange }: DayFieldProps) {
  return (
    <TextField
      label={label}
      type="date"
      value={value ?? ""}
      onChange={(day) => onChange(day === "" ? null : day)}
    />
  );
}

/** The value that filters nothing. */
const ANY = "";

interface ChoiceProps<T extends string> {
  label: string;
  value: T | null;
  options: readonly T[];
  textOf: (value: T) => MessageId;
  onChange: (value: T | null) => void;
  isRequired?: boolean;
}

function Choice<T extends string>({
  label,
  value,
  options,
  textOf,
  onChange,
  isRequired = false,
}: ChoiceProps<T>) {
  const text = useText();
  return (
    <Select
      label={label}
      value={value ?? ANY}
      options={[
        ...(isRequired ? [] : [[ANY, text("search.any")] as const]),
        ...options.map((option) => [option, text(textOf(option))] as const),
      ]}
      onChange={(chosen) => onChange(chosen === ANY ? null : chosen)}
    />
  );
}

interface Chip {
  key: string;
  label: string;
  without: SearchFilters;
}

/** The filters of a search in words; with `onChange` each can be removed. */
export function FilterChips({
  filters,
  onChange,
}: {
  filters: SearchFilters;
  onChange?: (filters: SearchFilters) => void;
}) {
  const text = useText();
  const chips = useDerived((state) => chipsOf(filters, state, text));
  if (chips.length === 0) {
    return null;
  }
  return (
    <span className="chips">
      {chips.map(({ key, label, without }) =>
        onChange === undefined ? (
          <span key={key} className="chip">
            {label}
          </span>
        ) : (
          <AriaButton
            key={key}
            className="chip"
            aria-label={text("search.remove", { filter: label })}
            onPress={() => onChange(without)}
          >
            {label} <X size={12} aria-hidden="true" />
          </AriaButton>
        ),
      )}
    </span>
  );
}

function chipsOf(filters: SearchFilters, state: State, text: ReturnType<typeof useText>): Chip[] {
  const userName = (id: string) => {
    const user = state.users[id];
    return user === undefined ? id : displayName(state, user, null);
  };
  const nameOfChannel = (id: string) => {
    const channel = state.channels[id];
    return channel === undefined ? id : `#${channelName(state, channel)}`;
  };
  const ofList = (
    list: "authorIds" | "mentionIds" | "channelIds",
    title: MessageId,
    name: (id: string) => string,
  ) =>
    filters[list].map((id) => ({
      key: `${list} ${id}`,
      label: `${text(title)}: ${name(id)}`,
      without: { ...filters, [list]: filters[list].filter((each) => each !== id) },
    }));
  const days = (["after", "before", "during"] as const).flatMap((name) => {
    const value = filters[name];
    return value === null
      ? []
      : [{ key: name, label: `${text(`search.${name}`)}: ${value}`, without: { ...filters, [name]: null } }];
  });
  return [
    ...ofList("authorIds", "search.from", userName),
    ...ofList("channelIds", "search.in", nameOfChannel),
    ...ofList("mentionIds", "search.mentions", userName),
    ...filters.has.map((value) => ({
      key: `has ${value}`,
      label: `${text("search.has")}: ${text(`search.has.${value}`)}`,
      without: { ...filters, has: filters.has.filter((each) => each !== value) },
    })),
    ...days,
    ...(filters.authorType === null
      ? []
      : [
          {
            key: "author",
            label: `${text("search.author")}: ${text(`search.author.${filters.authorType}`)}`,
            without: { ...filters, authorType: null },
          },
        ]),
    ...(filters.pinned === null
      ? []
      : [
          {
            key: "pinned",
            label: text(filters.pinned ? "search.pinned.true" : "search.pinned.false"),
            without: { ...filters, pinned: null },
          },
        ]),
    ...(filters.sort === "newest"
      ? []
      : [
          {
            key: "sort",
            label: text(`search.sort.${filters.sort}`),
            without: { ...filters, sort: "newest" as const },
          },
        ]),
  ];
}
