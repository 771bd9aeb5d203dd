import { ChevronDown } from "lucide-react";
import { useMemo, useState } from "react";
import {
  Autocomplete,
  Button as AriaButton,
  Dialog,
  DialogTrigger,
  Header,
  ListBox,
  ListBoxItem,
  Popover,
  Text,
  useFilter,
  type Selection,
} from "react-aria-components";

import { ComponentType } from "../../api/enums";
import { useText } from "../../i18n/translate";
import { guildIdOf } from "../../store/channels";
import { channelName, displayName } from "../../store/selectors";
import type { State } from "../../store/state";
import { Button } from "../../ui/controls";
import { SearchField } from "../../ui/fields";
import { LongList } from "../../ui/LongList";
import { useMemberSearch } from "../completion/useMemberSearch";
import { useAppState, useSession } from "../session/session";
import { Emoji } from "./Emoji";
import { defaultValues } from "./fields";
import type { Component, Option } from "./types";
import { userChoices } from "./users";

/** A select with more options than these can be searched. */
const MAX_WITHOUT_SEARCH = 10;

const OF_MEMBERS: ReadonlySet<number> = new Set([ComponentType.UserSelect, ComponentType.MentionableSelect]);

interface SelectMenuProps {
  component: Component;
  guildId: string | null;
  /** Called with the chosen values: at once if there can be one only, else when the menu is done. */
  onChoose: (values: readonly string[]) => void;
  /** The name for screen readers, where another text labels the select. */
  label?: string;
}

/** A select of any kind: its own options, or users, roles and channels of the guild. */
export function SelectMenu({ component, guildId, onChoose, label }: SelectMenuProps) {
  const text = useText();
  const { store } = useSession();
  const [open, setOpen] = useState(false);
  const [query, setQuery] = useState("");
  const { contains } = useFilter({ sensitivity: "base" });
  const hasMembers = OF_MEMBERS.has(component.type);
  // The server has sent some members of a large guild: the others are found by their names.
  useMemberSearch(open && hasMembers ? guildId : null, query.trim());
  const members = useAppState((state) => (open && guildId !== null ? state.members[guildId] : null));
  const options = useMemo(
    () => optionsOf(store.state, component, guildId),
    // Users, roles and channels are those of the moment in which the menu opens, and members who are found since.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [store, component, guildId, open, members],
  );
  const [chosen, setChosen] = useState<ReadonlySet<string>>(() => new Set(defaultValues(component)));
  // What was chosen last: leaving the menu without its button goes back to it.
  const [committed, setCommitted] = useState(chosen);
  const max = component.max_values ?? 1;
  const min = component.required === false ? 0 : (component.min_values ?? 1);
  const names = options.filter((option) => chosen.has(option.value)).map((option) => option.label);
  const change = (selection: Selection) => {
    const values = selection === "all" ? options.map((option) => option.value) : [...selection].map(String);
    if (values.length > max || (max === 1 && values.length < min)) {
      return;
    }
    setChosen(new Set(values));
    if (max === 1) {
      commit(values);
    }
  };
  const commit = (values: readonly string[]) => {
    setCommitted(new Set(values));
    setOpen(false);
    onChoose(values);
  };
  const toggle = (opens: boolean) => {
    setChosen(committed);
    setQuery("");
    setOpen(opens);
  };
  const list = (
    <ListBox
      aria-label={label ?? component.placeholder ?? text("component.select")}
      className="select-list"
      selectionMode={max === 1 ? "single" : "multiple"}
      selectedKeys={chosen}
      onSelectionChange={change}
      items={options.map((option) => ({ id: option.value, ...option }))}
      escapeKeyBehavior="none"
      renderEmptyState={() => <Header>{text("field.picker.none")}</Header>}
    >
      {(option) => (
        <ListBoxItem id={option.value} textValue={option.label} className="menu-item select-item">
          <Emoji emoji={option.emoji} />
          <Text slot="label">{option.label}</Text>
          {option.description && (
            <Text slot="description" className="field-hint">
              {option.description}
            </Text>
          )}
        </ListBoxItem>
      )}
    </ListBox>
  );
  return (
    <DialogTrigger isOpen={open} onOpenChange={toggle}>
      <AriaButton
        className="select-button"
        isDisabled={component.disabled === true}
        {...(label && { "aria-label": label })}
      >
        <span className={names.length === 0 ? "select-placeholder" : undefined}>
          {names.length === 0 ? (component.placeholder ?? text("component.select")) : names.join(", ")}
        </span>
        <ChevronDown size={16} aria-hidden="true" />
      </AriaButton>
      <Popover className="menu-popover">
        <Dialog
          aria-label={label ?? component.placeholder ?? text("component.select")}
          className="select-dialog"
        >
          {hasMembers || options.length > MAX_WITHOUT_SEARCH ? (
            <Autocomplete inputValue={query} onInputChange={setQuery} filter={contains}>
              <SearchField label={text("field.picker.search")} autoFocus value={query} onChange={setQuery} />
              <LongList>{list}</LongList>
            </Autocomplete>
          ) : (
            list
          )}
          {max > 1 && (
            <Button kind="primary" isDisabled={chosen.size < min} onPress={() => commit([...chosen])}>
              {text("component.done")}
            </Button>
          )}
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}

/** What can be chosen, and the defaults that are not among it. */
function optionsOf(state: State, component: Component, guildId: string | null): readonly Option[] {
  const options = choicesOf(state, component, guildId);
  const known = new Set(options.map((option) => option.value));
  const others = (component.default_values ?? []).filter(({ id }) => !known.has(id));
  return [...options, ...others.map(({ id }): Option => ({ value: id, label: labelOf(state, id, guildId) }))];
}

/** The name of a user who is no known member; else the id. */
function labelOf(state: State, id: string, guildId: string | null): string {
  const user = state.users[id];
  return user === undefined ? id : displayName(state, user, guildId);
}

function choicesOf(state: State, component: Component, guildId: string | null): readonly Option[] {
  switch (component.type) {
    case ComponentType.UserSelect:
      return userChoices(state, guildId);
    case ComponentType.RoleSelect:
      return roles(state, guildId);
    case ComponentType.MentionableSelect:
      return [...userChoices(state, guildId), ...roles(state, guildId)];
    case ComponentType.ChannelSelect:
      return Object.values(state.channels)
        .filter((channel) => guildIdOf(channel) === guildId)
        .filter(
          (channel) => !component.channel_types?.length || component.channel_types.includes(channel.type),
        )
        .map((channel) => ({ value: channel.id, label: `#${channelName(state, channel)}` }));
    default:
      return component.options ?? [];
  }
}

function roles(state: State, guildId: string | null): Option[] {
  const all = guildId === null ? [] : Object.values(state.guilds[guildId]?.roles ?? {});
  return all
    .filter((role) => role.id !== guildId)
    .map((role) => ({ value: role.id, label: `@${role.name}` }));
}
