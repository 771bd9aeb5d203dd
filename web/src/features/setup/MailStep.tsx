import { useState } from "react";

import { sendTestMail, type ServiceCheck } from "../../api/admin";
import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { Select } from "../../ui/Select";
import { TextField } from "../../ui/TextField";
import { ErrorNotice } from "../session/ErrorNotice";
import { useSession } from "../session/session";
import { fieldError, useAction } from "../session/useAction";
import { CheckNotice } from "./CheckNotice";
import { useDraft } from "./draft";
import { useSaveSettings, valueOf, type StepProps } from "./settings";
import { StepForm } from "./StepForm";

const FIELDS = ["smtp_host", "smtp_port", "smtp_tls", "smtp_user", "smtp_password", "mail_from"];
const ENCRYPTION = ["starttls", "tls", "none"] as const;

/** The mail server, with a test message. */
export default function MailStep({ settings, onDone }: StepProps) {
  const text = useText();
  const save = useSaveSettings();
  const action = useAction();
  const port = valueOf<number | null>(settings, "smtp_port", null);
  const draft = useDraft(
    "mail",
    {
      host: valueOf(settings, "smtp_host", ""),
      port: port === null ? "" : String(port),
      tls: valueOf<(typeof ENCRYPTION)[number]>(settings, "smtp_tls", "starttls"),
      user: valueOf(settings, "smtp_user", ""),
      password: "",
      sender: valueOf(settings, "mail_from", ""),
    },
    ["password"],
  );
  const { host, tls, user, password, sender } = draft.value;
  const isSet = valueOf<string | null>(settings, "smtp_host", null) !== null;
  const errorOf = (name: string) => fieldError(action.error, name);
  const store = async () => {
    const typedPort = draft.value.port.trim();
    await save(
      host.trim() === ""
        ? { smtp_host: null }
        : {
            smtp_host: host.trim(),
            smtp_port: typedPort === "" ? null : Number(typedPort),
            smtp_tls: tls,
            smtp_user: user.trim() === "" ? null : user.trim(),
            // An empty field keeps the password of a login that stays.
            ...((password !== "" || user.trim() === "") && { smtp_password: password || null }),
            mail_from: sender.trim() === "" ? null : sender.trim(),
          },
    );
    draft.clear();
  };
  return (
    <>
      <StepForm
        about={text("setup.mail.about", { url: window.location.origin })}
        action={action}
        isDirty={draft.isDirty}
        shown={FIELDS}
        onSave={store}
        onSkip={onDone}
        submit={text("common.save")}
        isDisabled={!draft.isDirty}
      >
        <TextField
          label={text("setup.mail.host")}
          value={host}
          onChange={(typed) => draft.set("host", typed)}
          placeholder="mail.example.org"
          error={errorOf("smtp_host")}
        />
        <TextField
          label={text("setup.mail.sender")}
          hint={text("setup.mail.sender.hint")}
          value={sender}
          onChange={(typed) => draft.set("sender", typed)}
          type="email"
          error={errorOf("mail_from")}
        />
        <Select
          label={text("setup.mail.tls")}
          value={tls}
          options={ENCRYPTION.map((each) => [each, text(`setup.mail.tls.${each}`)] as const)}
          onChange={(chosen) => draft.set("tls", chosen)}
          error={errorOf("smtp_tls")}
        />
        <TextField
          label={text("setup.mail.port")}
          hint={text("setup.mail.port.hint")}
          value={draft.value.port}
          onChange={(typed) => draft.set("port", typed)}
          inputMode="numeric"
          error={errorOf("smtp_port")}
        />
        <TextField
          label={text("setup.mail.user")}
          hint={text("setup.mail.user.hint")}
          value={user}
          onChange={(typed) => draft.set("user", typed)}
          autoComplete="off"
          error={errorOf("smtp_user")}
        />
        <TextField
          label={text("setup.mail.password")}
          hint={text("setup.mail.password.hint")}
          type="password"
          value={password}
          onChange={(typed) => draft.set("password", typed)}
          autoComplete="new-password"
          error={errorOf("smtp_password")}
        />
      </StepForm>
      {isSet && !draft.isDirty && <TestMail onDone={onDone} />}
    </>
  );
}

/** Sends a test message by the mail server that is saved. */
function TestMail({ onDone }: { onDone: () => void }) {
  const text = useText();
  const { api, store } = useSession();
  const action = useAction();
  const [address, setAddress] = useState(() => store.state.user?.email ?? "");
  const [check, setCheck] = useState<ServiceCheck | null>(null);
  const send = async () => {
    setCheck(null);
    setCheck(await sendTestMail(api, address.trim()));
  };
  return (
    <section className="settings-form">
      <h2>{text("setup.mail.test")}</h2>
      <TextField
        label={text("setup.mail.address")}
        type="email"
        value={address}
        onChange={setAddress}
        error={fieldError(action.error, "address")}
      />
      <ErrorNotice error={action.error} shown={["address"]} />
      <CheckNotice
        check={check}
        good={(answer) => text("setup.mail.sent", { answer })}
        bad={(problem) => text("setup.mail.failed", { problem })}
      />
      <div className="setup-actions">
        <Button isDisabled={action.pending || address.trim() === ""} onPress={() => void action.run(send)}>
          {text("setup.mail.send")}
        </Button>
        <Button kind="primary" onPress={onDone}>
          {text("setup.next")}
        </Button>
      </div>
    </section>
  );
}
