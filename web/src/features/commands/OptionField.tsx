import type { APIChannel } from "discord-api-types/v10";
import { Upload, X } from "lucide-react";
import { useId, useState } from "react";
import { FileTrigger } from "react-aria-components";

import { ApplicationCommandOptionType as OptionType } from "../../api/enums";
import type { CommandChoice, CommandOption } from "../../api/commands";
import { useText } from "../../i18n/translate";
import { guildIdOf } from "../../store/channels";
import type { State } from "../../store/state";
import { ComboField, type ComboItem } from "../../ui/ComboField";
import { Button, IconButton } from "../../ui/controls";
import { TextField } from "../../ui/TextField";
import { channelChoices, roleChoices, userChoices } from "../completion/choices";
import { formatSize } from "../attachments/formatSize";
import { useMemberSearch } from "../completion/useMemberSearch";
import { useAppState } from "../session/session";
import {
  acceptedTypes,
  descriptionOf,
  inputText,
  nameOf,
  type CommandLeaf,
  type OptionInput,
  type OptionInputs,
} from "./options";
import { useAutocomplete } from "./useAutocomplete";

export interface OptionFieldProps {
  option: CommandOption;
  leaf: CommandLeaf;
  channel: APIChannel;
  inputs: OptionInputs;
  onChange: (input: OptionInput | undefined) => void;
  error: string | undefined;
  autoFocus: boolean;
  onFocus: () => void;
}

/** The field of an option, with the control that fits its type. */
export function OptionField(props: OptionFieldProps) {
  const { option } = props;
  if (option.type === OptionType.Attachment) {
    return <FileOption {...props} />;
  }
  if (option.autocomplete === true) {
    return <AutocompleteOption {...props} />;
  }
  if (option.type === OptionType.Boolean || option.choices?.length) {
    return <ChoiceOption {...props} />;
  }
  if (ENTITY_TYPES.has(option.type)) {
    return <EntityOption {...props} />;
  }
  return <TextOption {...props} />;
}

const ENTITY_TYPES: ReadonlySet<number> = new Set([
  OptionType.User,
  OptionType.Channel,
  OptionType.Role,
  OptionType.Mentionable,
]);

function TextOption({ option, inputs, onChange, error, autoFocus, onFocus }: OptionFieldProps) {
  const isNumber = option.type !== OptionType.String;
  return (
    <TextField
      label={nameOf(option)}
      hint={descriptionOf(option)}
      value={inputText(inputs[option.name])}
      onChange={(text) => onChange(text === "" ? undefined : { kind: "text", text })}
      isRequired={option.required === true}
      autoFocus={autoFocus}
      onFocus={onFocus}
      error={error}
      autoComplete="off"
      {...(isNumber && { inputMode: option.type === OptionType.Integer ? "numeric" : "decimal" })}
      {...(!isNumber && option.max_length !== undefined && { maxLength: option.max_length })}
    />
  );
}

interface ComboOptionProps extends OptionFieldProps {
  items: readonly ComboItem[];
  onItem: (item: ComboItem) => void;
  emptyText: string;
  allowsOther?: boolean;
}

/** A field whose values are items: their id is the selected key, other texts stay texts. */
function ComboOption(props: ComboOptionProps) {
  const { option, inputs, onChange, items, onItem, emptyText, error, autoFocus, onFocus } = props;
  const input = inputs[option.name];
  return (
    <ComboField
      label={nameOf(option)}
      hint={descriptionOf(option)}
      items={items}
      text={inputText(input)}
      onText={(text) => {
        if (input?.kind !== "choice" || text !== input.label) {
          onChange(text === "" ? undefined : { kind: "text", text });
        }
      }}
      selectedId={input?.kind === "choice" ? String(input.value) : null}
      onSelect={(item) => item !== null && onItem(item)}
      emptyText={emptyText}
      allowsOther={props.allowsOther ?? false}
      isRequired={option.required === true}
      autoFocus={autoFocus}
      onFocus={onFocus}
      error={error}
    />
  );
}

/** Texts or numbers that the command declares, or yes and no. */
function ChoiceOption(props: OptionFieldProps) {
  const { option, inputs, onChange } = props;
  const text = useText();
  const input = inputs[option.name];
  const choices: readonly { name: string; value: string | number | boolean }[] =
    option.type === OptionType.Boolean
      ? [
          { name: text("command.true"), value: true },
          { name: text("command.false"), value: false },
        ]
      : (option.choices ?? []).map((choice) => ({ name: nameOf(choice), value: choice.value }));
  const typed = input?.kind === "text" ? input.text.toLowerCase() : "";
  const items = choices
    .filter((choice) => choice.name.toLowerCase().includes(typed))
    .map((choice) => ({ id: String(choice.value), label: choice.name }));
  return (
    <ComboOption
      {...props}
      items={items}
      emptyText={text("command.choices.none")}
      onItem={({ id }) => {
        const choice = choices.find(({ value }) => String(value) === id);
        if (choice !== undefined) {
          onChange({ kind: "choice", value: choice.value, label: choice.name });
        }
      }}
    />
  );
}

/** Choices that the application makes for what is being typed. */
function AutocompleteOption(props: OptionFieldProps) {
  const { option, leaf, channel, inputs, onChange, onFocus } = props;
  const text = useText();
  const [focused, setFocused] = useState(false);
  const input = inputs[option.name];
  const { choices, status } = useAutocomplete(
    channel.id,
    leaf,
    inputs,
    option.name,
    inputText(input),
    focused && input?.kind !== "choice",
  );
  const empty = {
    loading: "app.loading",
    failed: "command.choices.failed",
    loaded: "command.choices.none",
  } as const;
  return (
    <ComboOption
      {...props}
      items={choices.map((choice) => ({ id: String(choice.value), label: nameOf(choice) }))}
      emptyText={text(empty[status])}
      allowsOther
      onFocus={() => {
        setFocused(true);
        onFocus();
      }}
      onItem={({ id }) => {
        const choice: CommandChoice | undefined = choices.find(({ value }) => String(value) === id);
        if (choice !== undefined) {
          onChange({ kind: "choice", value: choice.value, label: nameOf(choice) });
        }
      }}
    />
  );
}

/** Users, roles and channels. */
function EntityOption(props: OptionFieldProps) {
  const { option, channel, inputs, onChange } = props;
  const text = useText();
  // Members that a search has found become part of it.
  const state = useAppState((all) => all);
  const guildId = guildIdOf(channel);
  const input = inputs[option.name];
  const query = inputText(input);
  const hasUsers = option.type === OptionType.User || option.type === OptionType.Mentionable;
  useMemberSearch(hasUsers ? guildId : null, input?.kind === "text" ? query : "");
  return (
    <ComboOption
      {...props}
      items={entityChoices(state, option, channel, query)}
      emptyText={text("command.choices.none")}
      onItem={({ id, label }) => onChange({ kind: "choice", value: id, label })}
    />
  );
}

function entityChoices(state: State, option: CommandOption, channel: APIChannel, query: string): ComboItem[] {
  const guildId = guildIdOf(channel);
  switch (option.type) {
    case OptionType.User:
      return userChoices(state, channel, query);
    case OptionType.Role:
      return roleChoices(state, guildId, query);
    case OptionType.Channel:
      return channelChoices(state, guildId, option.channel_types, query);
    default:
      return [...userChoices(state, channel, query), ...roleChoices(state, guildId, query)];
  }
}

function FileOption({ option, inputs, onChange, error, onFocus }: OptionFieldProps) {
  const text = useText();
  const input = inputs[option.name];
  const errorId = useId();
  const accepted = acceptedTypes(option.file_types)?.split(",");
  const select = (file: File | undefined) => {
    if (file !== undefined) {
      onFocus();
      onChange({ kind: "file", file });
    }
  };
  return (
    // Dropping is another way to choose a file.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <fieldset
      className="field command-file"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        event.stopPropagation();
        select(event.dataTransfer.files[0]);
      }}
    >
      <legend>{nameOf(option)}</legend>
      <span className="command-file-row">
        <FileTrigger
          {...(accepted && { acceptedFileTypes: accepted })}
          onSelect={(files) => select(files?.[0] ?? undefined)}
        >
          <Button aria-describedby={errorId}>
            <Upload size={16} aria-hidden="true" /> {text("command.file.choose")}
          </Button>
        </FileTrigger>
        {input?.kind === "file" && (
          <>
            <span className="command-file-name">
              {input.file.name} ({formatSize(input.file.size)})
            </span>
            <IconButton
              label={text("composer.removeFile", { name: input.file.name })}
              onPress={() => onChange(undefined)}
            >
              <X size={16} />
            </IconButton>
          </>
        )}
      </span>
      <span className="field-hint">{descriptionOf(option)}</span>
      <span id={errorId} className="field-error">
        {error}
      </span>
    </fieldset>
  );
}
