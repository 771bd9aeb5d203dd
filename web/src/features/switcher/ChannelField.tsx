import { useCallback, useState } from "react";

import { useText } from "../../i18n/translate";
import type { State } from "../../store/state";
import { ComboField, type ComboItem } from "../../ui/ComboField";
import { useSession } from "../session/session";
import { switcherItems, type SwitcherItem } from "./items";
import { ItemIcon } from "./Switcher";

/** A channel, thread or conversation that was chosen. */
export interface ChosenChannel {
  id: string;
  /** Null for conversations. */
  guildId: string | null;
  name: string;
}

interface ChannelFieldProps {
  label: string;
  value: ChosenChannel | null;
  onChange: (channel: ChosenChannel | null) => void;
  /** Which channels can be chosen. */
  keep: (state: State, channel: NonNullable<SwitcherItem["channel"]>) => boolean;
  autoFocus?: boolean;
}

/** One of the user's channels and conversations, found by name. */
export function ChannelField({ label, value, onChange, keep, autoFocus = false }: ChannelFieldProps) {
  const text = useText();
  const { store } = useSession();
  const [query, setQuery] = useState("");
  const find = useCallback(
    (typed: string) =>
      switcherItems(store.state, typed, ({ channel }) => channel !== null && keep(store.state, channel)),
    [store, keep],
  );
  const [found, setFound] = useState(() => find(""));
  const items = found.map((item): ComboItem => ({
    id: item.channel?.id ?? "",
    label: item.label,
    ...(item.detail !== "" && { detail: item.detail }),
    icon: <ItemIcon item={item} />,
  }));
  const choose = (item: ComboItem | null) => {
    const channel = found.find((each) => each.channel?.id === item?.id);
    if (item === null || channel === undefined) {
      onChange(null);
      return;
    }
    setQuery(item.label);
    onChange({ id: item.id, guildId: channel.guildId, name: item.label });
  };
  const type = (typed: string) => {
    setQuery(typed);
    setFound(find(typed === value?.name ? "" : typed));
    if (typed !== value?.name) {
      onChange(null);
    }
  };
  return (
    <ComboField
      label={label}
      items={items}
      text={query}
      onText={type}
      selectedId={value?.id ?? null}
      onSelect={choose}
      emptyText={text("switcher.none")}
      placeholder={text("messageActions.channel.placeholder")}
      autoFocus={autoFocus}
      isRequired
    />
  );
}
