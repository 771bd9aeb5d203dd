import { ArrowDown, ArrowUp, Search } from "lucide-react";
import { useState, useSyncExternalStore } from "react";
import { FormattedTime } from "react-intl";

import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { SearchField } from "../../ui/fields";
import type { MessageLog } from "./messageLog";

/** The messages between an Activity and this client, the latest first. */
export function MessagePanel({ log }: { log: MessageLog }) {
  const text = useText();
  const messages = useSyncExternalStore(log.subscribe, log.read);
  const [query, setQuery] = useState("");
  const wanted = query.trim().toUpperCase();
  const shown = messages.filter(({ name }) => name.includes(wanted)).reverse();
  return (
    <section className="activity-messages" aria-label={text("activities.messages")}>
      <div className="activity-messages-bar">
        <SearchField
          label={text("activities.messages.filter")}
          icon={<Search size={16} aria-hidden="true" />}
          value={query}
          onChange={setQuery}
        />
        <Button onPress={() => log.clear()}>{text("activities.messages.clear")}</Button>
      </div>
      {shown.length === 0 && <p className="activity-none">{text("activities.messages.none")}</p>}
      <ul>
        {shown.map(({ id, at, received, name, failed, text: data }) => (
          <li key={id}>
            <details>
              <summary className={failed ? "activity-message-failed" : ""}>
                {received ? (
                  <ArrowUp size={14} aria-hidden="true" />
                ) : (
                  <ArrowDown size={14} aria-hidden="true" />
                )}
                <span className="visually-hidden">
                  {text(received ? "activities.messages.received" : "activities.messages.sent")}
                </span>
                <code>{name}</code>
                <time dateTime={new Date(at).toISOString()}>
                  <FormattedTime value={at} timeStyle="medium" />
                </time>
              </summary>
              <pre>{data}</pre>
            </details>
          </li>
        ))}
      </ul>
    </section>
  );
}
