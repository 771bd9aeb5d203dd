import { AtSign, Users } from "lucide-react";
import { useEffect, useRef, type ReactNode } from "react";

import { avatarUrl, emojiUrl } from "../../api/images";
import { useText } from "../../i18n/translate";
import { Avatar } from "../../ui/controls";
import { ChannelIcon } from "../channels/ChannelIcon";
import { ApplicationIcon } from "../commands/ApplicationIcon";
import type { CommandLeaf } from "../commands/options";
import type { Completion } from "../completion/completion";
import type { CompletionState } from "./useCompletion";
import "./completion.css";

interface CompletionListProps {
  id: string;
  state: CompletionState;
  onChoose: (index: number) => void;
}

/** The id of the option that screen readers announce while the text keeps the focus. */
export function optionId(listId: string, index: number): string {
  return `${listId}-${index}`;
}

/** What can be completed, above the composer. The text keeps the focus; its keys move through the list. */
export function CompletionList({ id, state, onChoose }: CompletionListProps) {
  const text = useText();
  const { trigger, completions, commands, commandStatus, active, setActive } = state;
  const list = useRef<HTMLDivElement>(null);
  const count = trigger?.kind === "command" ? commands.length : completions.length;
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [active, count]);
  if (trigger === null || (count === 0 && trigger.kind !== "command")) {
    return null;
  }
  if (count === 0) {
    const status =
      commandStatus === "loading"
        ? "app.loading"
        : commandStatus === "failed"
          ? "command.list.failed"
          : "command.list.none";
    return (
      <p className="completion completion-empty" role="status">
        {text(status)}
      </p>
    );
  }
  const row = (index: number, key: string, children: ReactNode) => (
    // The text area has the focus and the keys; the mouse is another way.
    // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
    <div
      key={key}
      id={optionId(id, index)}
      role="option"
      aria-selected={index === active}
      className="completion-item"
      onMouseMove={() => index !== active && setActive(index)}
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => onChoose(index)}
    >
      {children}
    </div>
  );
  return (
    <div
      ref={list}
      id={id}
      role="listbox"
      aria-label={text(`completion.${trigger.kind}`)}
      className="completion"
    >
      {trigger.kind === "command"
        ? byApplication(commands).map(({ first, leaves }) => (
            <div
              key={`${first} ${leaves[0]?.application.id ?? ""}`}
              role="group"
              aria-label={leaves[0]?.application.name}
            >
              <div className="completion-heading" aria-hidden="true">
                <ApplicationIcon leaf={leaves[0]} size={18} /> {leaves[0]?.application.name}
              </div>
              {leaves.map((leaf, offset) => row(first + offset, leaf.key, <CommandRow leaf={leaf} />))}
            </div>
          ))
        : completions.map((completion, index) =>
            row(index, completion.key, <CompletionRow completion={completion} />),
          )}
    </div>
  );
}

/** Commands of the same application that follow each other, with the index of the first. */
function byApplication(commands: readonly CommandLeaf[]): { first: number; leaves: CommandLeaf[] }[] {
  const groups: { first: number; leaves: CommandLeaf[] }[] = [];
  commands.forEach((leaf, index) => {
    const last = groups.at(-1);
    if (last?.leaves[0]?.application.id === leaf.application.id) {
      last.leaves.push(leaf);
    } else {
      groups.push({ first: index, leaves: [leaf] });
    }
  });
  return groups;
}

function CommandRow({ leaf }: { leaf: CommandLeaf }) {
  const required = leaf.options.filter((option) => option.required === true);
  return (
    <span className="completion-text">
      <span className="completion-label">
        /{leaf.title}{" "}
        {required.map((option) => (
          <span key={option.name} className="completion-option">
            {option.name_localized ?? option.name}
          </span>
        ))}
      </span>
      <span className="completion-detail">{leaf.description}</span>
    </span>
  );
}

function CompletionRow({ completion }: { completion: Completion }) {
  return (
    <>
      <span className="completion-icon" aria-hidden="true">
        <Icon icon={completion.icon} name={completion.label} />
      </span>
      <span className="completion-label">{completion.label}</span>
      {completion.detail !== undefined && <span className="completion-detail">{completion.detail}</span>}
    </>
  );
}

function Icon({ icon, name }: { icon: Completion["icon"]; name: string }): ReactNode {
  switch (icon.kind) {
    case "user":
      return <Avatar url={avatarUrl(icon.user, 24)} name={name} size={24} hueKey={icon.user.id} />;
    case "role":
      return <AtSign size={18} style={icon.color === null ? undefined : { color: icon.color }} />;
    case "everyone":
      return <Users size={18} />;
    case "channel":
      return <ChannelIcon type={icon.type} />;
    case "emoji":
      return icon.id === null ? icon.name : <img src={emojiUrl(icon.id, 24)} alt="" width={24} height={24} />;
  }
}
