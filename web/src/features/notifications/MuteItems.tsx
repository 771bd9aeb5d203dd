import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { useIntl } from "react-intl";

import type { MessageId } from "../../i18n/messages";
import { useText } from "../../i18n/translate";
import { isInForce } from "../../store/settings";
import type { MuteConfig } from "../../store/userSettings";
import { MenuItem, Submenu } from "../../ui/Menu";
import { MUTE_SECONDS, muteFor, UNMUTED, type Mute } from "./mute";

interface MuteItemsProps {
  /** What the user has set; absent fields are those of what was never muted. */
  value: { muted?: boolean; mute_config?: MuteConfig | null } | undefined;
  mute?: MessageId;
  unmute?: MessageId;
  onChange: (mute: Mute) => void;
}

/** The item of a menu that mutes for a time of choice, or that says until when something is muted and ends it. */
export function MuteItems({ value, mute = "mute.mute", unmute = "mute.unmute", onChange }: MuteItemsProps) {
  const text = useText();
  const { formatDate } = useIntl();
  const [now] = useState(() => Date.now());
  const config = value?.mute_config ?? null;
  if (!isInForce({ muted: value?.muted === true, mute_config: config }, now)) {
    return (
      <Submenu
        label={text(mute)}
        item={
          <MenuItem textValue={text(mute)}>
            <span className="menu-item-text">{text(mute)}</span>
            <ChevronRight size={16} aria-hidden="true" />
          </MenuItem>
        }
      >
        {MUTE_SECONDS.map((seconds) => (
          <MenuItem key={String(seconds)} onAction={() => onChange(muteFor(seconds, Date.now()))}>
            {durationText(text, seconds)}
          </MenuItem>
        ))}
      </Submenu>
    );
  }
  const end = config?.end_time;
  return (
    <MenuItem textValue={text(unmute)} onAction={() => onChange(UNMUTED)}>
      <span className="menu-item-text">
        {text(unmute)}
        {end && (
          <span className="menu-item-hint">
            {text("mute.until", { date: formatDate(end, { dateStyle: "medium", timeStyle: "short" }) })}
          </span>
        )}
      </span>
    </MenuItem>
  );
}

/** How long something is muted that is muted for a number of seconds; null is until it is unmuted. */
export function durationText(text: ReturnType<typeof useText>, seconds: number | null): string {
  return seconds === null
    ? text("mute.always")
    : text("mute.minutes", { count: seconds / 60, hours: seconds / 3600 });
}
