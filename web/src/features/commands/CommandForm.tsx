import type { APIChannel } from "discord-api-types/v10";
import { Plus, SendHorizontal, X } from "lucide-react";
import { useRef, useState, type KeyboardEvent } from "react";
import { Form } from "react-aria-components";

import { useText } from "../../i18n/translate";
import { Button, IconButton } from "../../ui/controls";
import { ErrorNotice } from "../session/ErrorNotice";
import { useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { ApplicationIcon } from "./ApplicationIcon";
import {
  buildOptions,
  checkOption,
  nameOf,
  type CommandLeaf,
  type OptionInput,
  type OptionInputs,
} from "./options";
import { OptionField } from "./OptionField";
import { runCommand } from "./sending";
import "./commands.css";

interface CommandFormProps {
  leaf: CommandLeaf;
  channel: APIChannel;
  /** In bytes. */
  maxFileSize: number;
  onDone: () => void;
  onCancel: () => void;
}

/** The options of a command, in place of the composer's text. */
export function CommandForm({ leaf, channel, maxFileSize, onDone, onCancel }: CommandFormProps) {
  const text = useText();
  const session = useSession();
  const action = useAction();
  const form = useRef<HTMLFormElement>(null);
  const [inputs, setInputs] = useState<OptionInputs>({});
  const [added, setAdded] = useState<readonly string[]>([]);
  /** Options that the user has left, or all after an attempt to send: their problems are shown. */
  const [visited, setVisited] = useState<ReadonlySet<string>>(new Set());
  const [focused, setFocused] = useState<string | null>(null);
  const shown = leaf.options.filter((option) => option.required === true || added.includes(option.name));
  const others = leaf.options.filter((option) => !shown.includes(option));
  const [first] = shown;

  const change = (name: string, input: OptionInput | undefined) =>
    setInputs((before) => ({ ...before, [name]: input }));
  const onFocus = (name: string) => {
    if (focused !== null && focused !== name) {
      setVisited((before) => new Set([...before, focused]));
    }
    setFocused(name);
  };
  const problemOf = (name: string): string | undefined => {
    const option = leaf.options.find((each) => each.name === name);
    const problem = option && checkOption(option, inputs[name], maxFileSize);
    return problem ? text(problem.id, problem.values) : undefined;
  };
  const submit = async () => {
    setVisited(new Set(leaf.options.map((option) => option.name)));
    const invalid = shown.find((option) => problemOf(option.name) !== undefined);
    if (invalid !== undefined) {
      focusField(form.current, invalid.name);
      return;
    }
    const files: File[] = [];
    const options = buildOptions(leaf, inputs, files);
    if (await action.run(() => runCommand(session, channel.id, leaf, options, files))) {
      onDone();
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const isEmptyField = event.target instanceof HTMLInputElement && event.target.value === "";
    const isFirst = focused === null || focused === first?.name;
    if (
      event.key === "Escape" ||
      (event.key === "Backspace" && isEmptyField && isFirst && first !== undefined)
    ) {
      event.preventDefault();
      onCancel();
    }
  };
  return (
    // The keys of the whole form: Escape leaves it, as Backspace does in its empty first field.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <section className="command" aria-label={`/${leaf.title}`} onKeyDown={onKeyDown}>
      <header className="command-header">
        <ApplicationIcon leaf={leaf} size={24} />
        <p>
          <strong>/{leaf.title}</strong> <span className="field-hint">{leaf.description}</span>
        </p>
        <IconButton label={text("command.cancel")} onPress={onCancel}>
          <X size={16} />
        </IconButton>
      </header>
      <Form
        ref={form}
        validationBehavior="aria"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <div className="command-options">
          {shown.map((option) => (
            <div key={option.name} data-option={option.name}>
              <OptionField
                option={option}
                leaf={leaf}
                channel={channel}
                inputs={inputs}
                onChange={(input) => change(option.name, input)}
                error={visited.has(option.name) ? problemOf(option.name) : undefined}
                autoFocus={option === first || option.name === added.at(-1)}
                onFocus={() => onFocus(option.name)}
              />
            </div>
          ))}
        </div>
        <ErrorNotice error={action.error} />
        <div className="command-actions">
          {others.map((option) => (
            <Button key={option.name} kind="quiet" onPress={() => setAdded([...added, option.name])}>
              <Plus size={14} aria-hidden="true" /> {nameOf(option)}
            </Button>
          ))}
          <Button type="submit" kind="primary" isDisabled={action.pending} autoFocus={first === undefined}>
            <SendHorizontal size={16} aria-hidden="true" /> {text("command.send")}
          </Button>
        </div>
      </Form>
    </section>
  );
}

function focusField(form: HTMLFormElement | null, name: string): void {
  form
    ?.querySelector<HTMLElement>(`[data-option="${CSS.escape(name)}"] :is(input:not([hidden]), button)`)
    ?.focus();
}
