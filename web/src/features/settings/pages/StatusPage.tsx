import { SmilePlus } from "lucide-react";
import { useState } from "react";
import { FormattedDate } from "react-intl";

import type { MessageId } from "../../../i18n/messages";
import { Translate, useText } from "../../../i18n/translate";
import { Button } from "../../../ui/controls";
import { TextField } from "../../../ui/TextField";
import { Select } from "../../../ui/Select";
import { EmojiButton } from "../../emojis/EmojiButton";
import { ErrorNotice } from "../../session/ErrorNotice";
import { useSession } from "../../session/session";
import { fieldError } from "../../session/useAction";
import { STATUSES } from "../../users/statuses";
import { changeSettings, useSettings } from "../../session/useSettings";
import { EXPIRIES, expiresAt, type Expiry } from "../expiry";
import { RadioCards } from "../RadioCards";
import { SettingsForm } from "../SettingsForm";

/** Whether the user appears online, and what they say beside their name. */
export default function StatusPage() {
  const text = useText();
  const { settings, change, action } = useSettings();
  return (
    <>
      <section className="preferences-block">
        <RadioCards
          label={text("settings.status")}
          value={settings.status}
          options={STATUSES.map(([value, id]) => [value, text(id)])}
          onChange={(status) => void change({ status })}
        />
        <ErrorNotice error={action.error} />
      </section>
      <CustomStatusForm />
    </>
  );
}

const EXPIRY_TEXTS: Record<Expiry, MessageId> = {
  never: "settings.customStatus.never",
  "30m": "settings.customStatus.30m",
  "1h": "settings.customStatus.1h",
  "4h": "settings.customStatus.4h",
  today: "settings.customStatus.today",
};

function CustomStatusForm() {
  const text = useText();
  const { settings, change } = useSettings();
  const session = useSession();
  const current = settings.custom_status;
  const [words, setWords] = useState(current?.text ?? "");
  const [emoji, setEmoji] = useState(current?.emoji_name ?? "");
  const [expiry, setExpiry] = useState<Expiry>("never");
  const set = async () => {
    const status = {
      text: words.trim() === "" ? null : words.trim(),
      emoji_id: null,
      emoji_name: emoji === "" ? null : emoji,
      expires_at: expiresAt(expiry, new Date()),
    };
    const isEmpty = status.text === null && status.emoji_name === null;
    await changeSettings(session, { custom_status: isEmpty ? null : status });
  };
  const clear = async () => {
    setWords("");
    setEmoji("");
    await change({ custom_status: null });
  };
  return (
    <section className="preferences-block">
      <h2>{text("settings.customStatus")}</h2>
      {current?.expires_at && (
        <p className="field-hint">
          <Translate
            id="settings.customStatus.until"
            values={{
              date: (
                <FormattedDate key="date" value={current.expires_at} dateStyle="medium" timeStyle="short" />
              ),
            }}
          />
        </p>
      )}
      <SettingsForm onSave={set} submit={text("settings.customStatus.set")}>
        {({ error }) => (
          <>
            <div className="status-line">
              <EmojiButton
                label={text("settings.customStatus.emoji")}
                icon={emoji === "" ? <SmilePlus size={18} /> : <span>{emoji}</span>}
                channel={undefined}
                onSelect={({ name }) => setEmoji(name)}
              />
              <TextField
                label={text("settings.customStatus.text")}
                value={words}
                onChange={setWords}
                maxLength={128}
                error={fieldError(error, "custom_status")}
              />
            </div>
            <Select
              label={text("settings.customStatus.expiry")}
              value={expiry}
              options={EXPIRIES.map((each) => [each, text(EXPIRY_TEXTS[each])])}
              onChange={setExpiry}
            />
            {current !== null && (
              <div>
                <Button onPress={() => void clear()}>{text("settings.customStatus.clear")}</Button>
              </div>
            )}
          </>
        )}
      </SettingsForm>
    </section>
  );
}
