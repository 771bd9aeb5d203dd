import { useNavigate } from "@tanstack/react-router";
import { useEffect, useId, useRef, useState, type KeyboardEvent } from "react";
import { Dialog, Input, Modal, ModalOverlay } from "react-aria-components";

import { guildIconUrl } from "../../api/images";
import { Translate, useText } from "../../i18n/translate";
import { Avatar } from "../../ui/controls";
import { ChannelIcon } from "../channels/ChannelIcon";
import { useAppState, useSession } from "../session/session";
import { switcherItems, type SwitcherItem } from "./items";
import "./switcher.css";

/** Goes to a channel, conversation or guild by its name. */
export function Switcher({ onClose }: { onClose: () => void }) {
  const text = useText();
  const { store } = useSession();
  const navigate = useNavigate();
  const listId = useId();
  const list = useRef<HTMLDivElement>(null);
  const [query, setQuery] = useState("");
  const [active, setActive] = useState(0);
  const [items, setItems] = useState(() => switcherItems(store.state, ""));
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [active, items]);
  const open = (item: SwitcherItem | undefined) => {
    if (item === undefined) {
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
      const by = event.key === "ArrowDown" ? 1 : items.length - 1;
      setActive(items.length === 0 ? 0 : (active + by) % items.length);
    } else if (event.key === "Enter" && !event.nativeEvent.isComposing) {
      event.preventDefault();
      open(items[active]);
    }
  };
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
            aria-expanded={items.length > 0}
            aria-controls={listId}
            aria-activedescendant={items.length > 0 ? `${listId}-${active}` : undefined}
            aria-autocomplete="list"
            autoFocus
            placeholder={text("switcher.placeholder")}
            value={query}
            onChange={(event) => {
              setQuery(event.target.value);
              setItems(switcherItems(store.state, event.target.value));
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
            {items.map((item, index) => (
              // The field has the focus and the keys; the mouse is another way.
              // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
              <div
                key={item.key}
                id={`${listId}-${index}`}
                role="option"
                aria-selected={index === active}
                className={item.unread ? "switcher-item switcher-unread" : "switcher-item"}
                onMouseMove={() => index !== active && setActive(index)}
                onClick={() => open(item)}
              >
                <ItemIcon item={item} />
                <span className="switcher-label" dir="auto">
                  {item.label}
                </span>
                <span className="switcher-detail" dir="auto">
                  {item.detail}
                </span>
                {item.mentions > 0 && <span className="mentions">{item.mentions}</span>}
              </div>
            ))}
          </div>
          {items.length === 0 && (
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
