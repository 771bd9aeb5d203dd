import { useNavigate } from "@tanstack/react-router";
import { Clock } from "lucide-react";
import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { Dialog, Input, Modal, ModalOverlay } from "react-aria-components";

import { guildIconUrl } from "../../api/images";
import { Translate, useText } from "../../i18n/translate";
import { Avatar } from "../../ui/controls";
import { ChannelIcon } from "../channels/ChannelIcon";
import { useAppState, useSession } from "../session/session";
import { Keys } from "../keybinds/Keys";
import { COMMAND_SIGN, matchingCommands, type Command } from "./command";
import { switcherItems, type SwitcherItem } from "./items";
import { readRecentChannels } from "./recents";
import "./switcher.css";

interface SwitcherProps {
  commands: readonly Command[];
  /** What the field has at first. */
  initial: string;
  onClose: () => void;
}

/** Goes to a channel, conversation or guild by its name, and does what has a command. */
export function Switcher({ commands, initial, onClose }: SwitcherProps) {
  const text = useText();
  const { store, account } = useSession();
  const [recents] = useState(() => readRecentChannels(account.userId));
  const [dialog, setDialog] = useState<ReactNode>(null);
  const navigate = useNavigate();
  const listId = useId();
  const list = useRef<HTMLDivElement>(null);
  const [query, setQuery] = useState(initial);
  const [active, setActive] = useState(0);
  const places = useMemo(
    () => (query.startsWith(COMMAND_SIGN) ? [] : switcherItems(store.state, query, () => true, recents)),
    [store, query, recents],
  );
  const entries = useMemo(
    (): readonly (SwitcherItem | Command)[] => [...places, ...matchingCommands(commands, query)],
    [places, commands, query],
  );
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [active, entries]);
  const open = (item: SwitcherItem | Command | undefined) => {
    if (item === undefined) {
      return;
    }
    if ("perform" in item) {
      const asks = item.perform(onClose);
      if (asks === null) {
        onClose();
      } else {
        setDialog(asks);
      }
      return;
    }
    onClose();
    const channelId = item.channel?.id;
    void (channelId === undefined
      ? navigate({ to: "/channels/$guildId", params: { guildId: item.guildId ?? "" } })
      : item.guildId === null
        ? navigate({ to: "/channels/@me/$channelId", params: { channelId } })
        : navigate({ to: "/channels/$guildId/$channelId", params: { guildId: item.guildId, channelId } }));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const by = event.key === "ArrowDown" ? 1 : entries.length - 1;
      setActive(entries.length === 0 ? 0 : (active + by) % entries.length);
    } else if (event.key === "Enter" && !event.nativeEvent.isComposing) {
      event.preventDefault();
      open(entries[active]);
    }
  };
  if (dialog !== null) {
    return dialog;
  }
  return (
    <ModalOverlay
      isOpen
      isDismissable
      onOpenChange={(isOpen) => !isOpen && onClose()}
      className="dialog-scrim switcher-scrim"
    >
      <Modal className="dialog switcher">
        <Dialog aria-label={text("switcher.title")}>
          <Input
            role="combobox"
            dir="auto"
            className="switcher-input"
            aria-label={text("switcher.title")}
            aria-expanded={entries.length > 0}
            aria-controls={listId}
            aria-activedescendant={entries.length > 0 ? `${listId}-${active}` : undefined}
            aria-autocomplete="list"
            autoFocus
            placeholder={text("switcher.placeholder")}
            value={query}
            onChange={(event) => {
              setQuery(event.target.value);
              setActive(0);
            }}
            onKeyDown={onKeyDown}
          />
          <div
            ref={list}
            id={listId}
            role="listbox"
            aria-label={text("switcher.results")}
            className="switcher-list"
          >
            {entries.map((item, index) => (
              // The field has the focus and the keys; the mouse is another way.
              // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
              <div
                key={"perform" in item ? `command ${item.id}` : item.key}
                id={`${listId}-${index}`}
                role="option"
                aria-selected={index === active}
                className={
                  "unread" in item && item.unread ? "switcher-item switcher-unread" : "switcher-item"
                }
                onMouseMove={() => index !== active && setActive(index)}
                onClick={() => open(item)}
              >
                {"perform" in item ? (
                  <item.Icon size={18} className="channel-icon" aria-hidden="true" />
                ) : (
                  <ItemIcon item={item} />
                )}
                <span className="switcher-label" dir="auto">
                  {item.label}
                </span>
                <span className="switcher-detail" dir="auto">
                  {item.detail}
                </span>
                {"isRecent" in item && item.isRecent === true && (
                  <span className="switcher-recent">
                    <Clock size={14} aria-hidden="true" />
                    <span className="visually-hidden">{text("switcher.recent")}</span>
                  </span>
                )}
                {"perform" in item
                  ? item.keys !== null && <Keys combination={item.keys} />
                  : item.mentions > 0 && <span className="mentions">{item.mentions}</span>}
              </div>
            ))}
          </div>
          {entries.length === 0 && (
            <p className="switcher-empty" role="status">
              {text("switcher.none")}
            </p>
          )}
          <p className="field-hint switcher-hint">
            <Translate id="switcher.hint" />
          </p>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

export function ItemIcon({ item }: { item: SwitcherItem }) {
  const icon = useAppState((state) => state.guilds[item.guildId ?? ""]?.icon ?? null);
  return item.channel === null ? (
    <Avatar url={guildIconUrl(item.guildId ?? "", icon, 20)} name={item.label} size={20} tile />
  ) : (
    <ChannelIcon type={item.channel.type} />
  );
}
