import { useState } from "react";

import { getGuild } from "../../api/guild_settings";
import { modifyIncidentActions, type IncidentActions as Actions } from "../../api/moderation";
import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { Select } from "../../ui/Select";
import { ErrorNotice } from "../session/ErrorNotice";
import { useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { useFormats } from "./formats";
import { Loaded, useGuildQuery } from "./queries";
import type { SectionProps } from "./section";

const HOURS = ["1", "6", "12", "24"] as const;
const PAUSES = [
  ["invites_disabled_until", "guildSettings.incidents.invites", "guildSettings.incidents.invites.hint"],
  ["dms_disabled_until", "guildSettings.incidents.messages", "guildSettings.incidents.messages.hint"],
] as const;
/** The clocks of this device and of the server differ a little. */
const MARGIN_MS = 5000;

/** Pauses invites and direct messages for up to a day, during a raid. */
export default function IncidentActions({ guild }: SectionProps) {
  const text = useText();
  const { api } = useSession();
  const { moment, isFuture } = useFormats();
  const action = useAction();
  const query = useGuildQuery(guild.id, "guild", getGuild);
  const [hours, setHours] = useState<(typeof HOURS)[number]>("1");
  const change = (field: keyof Actions, until: string | null) =>
    action.run(async () => {
      await modifyIncidentActions(api, guild.id, { [field]: until });
      await query.refetch();
    });
  return (
    <div className="settings-block">
      <p>{text("guildSettings.incidents.hint")}</p>
      <Select
        label={text("guildSettings.incidents.length")}
        value={hours}
        options={HOURS.map((each) => [each, text("guildSettings.incidents.hours", { count: Number(each) })])}
        onChange={setHours}
      />
      <ErrorNotice error={action.error} />
      <Loaded query={query}>
        {(full) => (
          <ul className="settings-list">
            {PAUSES.map(([field, title, hint]) => {
              const incidents = full.incidents_data as Actions | null;
              const until = incidents?.[field] ?? "";
              const paused = isFuture(until);
              const end = () => new Date(Date.now() + Number(hours) * 3_600_000 - MARGIN_MS).toISOString();
              return (
                <li key={field} className="settings-row">
                  <span className="settings-row-text">
                    <strong>{text(title)}</strong>
                    <span>{text(hint)}</span>
                    {paused && (
                      <span className="settings-warning">
                        {text("guildSettings.incidents.until", { date: moment(until) })}
                      </span>
                    )}
                  </span>
                  <Button
                    kind={paused ? "plain" : "danger"}
                    isDisabled={action.pending}
                    onPress={() => void change(field, paused ? null : end())}
                  >
                    {text(paused ? "guildSettings.incidents.end" : "guildSettings.incidents.pause")}
                  </Button>
                </li>
              );
            })}
          </ul>
        )}
      </Loaded>
    </div>
  );
}
