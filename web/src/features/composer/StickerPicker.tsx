import { useQuery } from "@tanstack/react-query";
import type { APIChannel, APISticker, APIStickerItem } from "discord-api-types/v10";
import { Search } from "lucide-react";
import { useState } from "react";
import { Button as AriaButton } from "react-aria-components";

import { listStickerPacks } from "../../api/expressions";
import { useText } from "../../i18n/translate";
import { SearchField } from "../../ui/fields";
import { WithActionTexts } from "../../i18n/WithActionTexts";
import { StickerImage } from "../media/StickerImage";
import { Queries } from "../session/queries";
import { useDerived, useSession } from "../session/session";
import { stickerGroups } from "./stickers";
import "../media/expressions.css";
import "./stickers.css";

interface StickerPickerProps {
  channel: APIChannel;
  onSelect: (sticker: APIStickerItem) => void;
}

/** The stickers that can be sent in a channel, with search; loaded when it is first opened. */
export default function StickerPicker(props: StickerPickerProps) {
  return (
    <Queries>
      <WithActionTexts>
        <Groups {...props} />
      </WithActionTexts>
    </Queries>
  );
}

function Groups({ channel, onSelect }: StickerPickerProps) {
  const text = useText();
  const { api } = useSession();
  const [query, setQuery] = useState("");
  const packs = useQuery({
    queryKey: ["sticker packs"],
    queryFn: () => listStickerPacks(api),
    staleTime: Infinity,
  });
  const groups = useDerived((state) => stickerGroups(state, channel, packs.data ?? [], query));
  return (
    <div className="expression-picker">
      <SearchField
        label={text("messageActions.sticker.search")}
        icon={<Search size={16} aria-hidden="true" />}
        value={query}
        onChange={setQuery}
        autoFocus
      />
      <div className="expression-groups">
        {groups.map((group) => (
          <section key={group.key} aria-label={group.name}>
            <h3>{group.name}</h3>
            <div className="expression-grid sticker-grid">
              {group.stickers.map((sticker) => (
                <StickerChoice key={sticker.id} sticker={sticker} onSelect={onSelect} />
              ))}
            </div>
          </section>
        ))}
        {groups.length === 0 && (
          <p className="emoji-loading" role="status">
            {text(packs.isPending ? "app.loading" : "messageActions.sticker.none")}
          </p>
        )}
      </div>
    </div>
  );
}

function StickerChoice({
  sticker,
  onSelect,
}: {
  sticker: APISticker;
  onSelect: StickerPickerProps["onSelect"];
}) {
  const { id, name, format_type } = sticker;
  return (
    <AriaButton
      className="sticker-choice"
      aria-label={name}
      onPress={() => onSelect({ id, name, format_type })}
    >
      <StickerImage sticker={{ id, name, format_type }} size={72} label="" />
    </AriaButton>
  );
}
