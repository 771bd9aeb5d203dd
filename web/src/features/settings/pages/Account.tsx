import { useState } from "react";

import { modifyCurrentUser, resendVerification } from "../../../api/accounts";
import { useText } from "../../../i18n/translate";
import { Button } from "../../../ui/controls";
import { TextField } from "../../../ui/TextField";
import { Checkbox } from "../../../ui/fields";
import { AccountList } from "../AccountList";
import { useAppState, useSession } from "../../session/session";
import { ErrorNotice } from "../../session/ErrorNotice";
import { fieldError, useAction } from "../../session/useAction";
import { SettingsForm } from "../SettingsForm";
import { TwoFactors } from "../TwoFactors";

/** The name, address and password to log in with, and the accounts on this device. */
export default function Account() {
  const text = useText();
  const { logOut } = useSession();
  return (
    <>
      <NamesForm />
      <PasswordForm />
      <TwoFactors />
      <section className="preferences-block">
        <h2>{text("settings.accounts")}</h2>
        <AccountList />
        <div className="preferences-save">
          <Button kind="danger" onPress={() => void logOut()}>
            {text("settings.logOut")}
          </Button>
        </div>
      </section>
    </>
  );
}

function NamesForm() {
  const text = useText();
  const { api, store } = useSession();
  const user = useAppState((state) => state.user);
  const before = { username: user?.username ?? "", email: user?.email ?? "" };
  const [username, setUsername] = useState(before.username);
  const [email, setEmail] = useState(before.email);
  const [password, setPassword] = useState("");
  const changed = username !== before.username || email !== before.email;
  const save = async () => {
    const saved = await modifyCurrentUser(api, {
      ...(username !== before.username && { username }),
      ...(email !== before.email && { email }),
      password,
    });
    store.dispatch("USER_UPDATE", saved);
    setPassword("");
  };
  return (
    <section className="preferences-block">
      <h2>{text("settings.names")}</h2>
      <SettingsForm onSave={save} isDirty={changed} isDisabled={!changed || password === ""}>
        {({ error }) => (
          <>
            <TextField
              label={text("auth.register.username")}
              hint={text("auth.register.usernameHint")}
              value={username}
              onChange={setUsername}
              autoComplete="username"
              error={fieldError(error, "username")}
            />
            <TextField
              label={text("settings.email")}
              hint={text("settings.email.hint")}
              type="email"
              value={email}
              onChange={setEmail}
              autoComplete="email"
              error={fieldError(error, "email")}
            />
            {before.email !== "" && email === before.email && user?.verified === false && <Unverified />}
            {changed && (
              <TextField
                label={text("settings.password.current")}
                type="password"
                value={password}
                onChange={setPassword}
                isRequired
                autoComplete="current-password"
                error={fieldError(error, "password")}
              />
            )}
          </>
        )}
      </SettingsForm>
    </section>
  );
}

/** What is missing while the address is not verified, and a button that mails the link to verify it. */
function Unverified() {
  const text = useText();
  const { api } = useSession();
  const email = useAppState((state) => state.user?.email ?? "");
  const action = useAction();
  const [sentTo, setSentTo] = useState("");
  const send = async () => {
    await resendVerification(api);
    setSentTo(email);
  };
  return (
    <div className="notice">
      <p>{text("settings.email.unverified")}</p>
      {sentTo === email ? (
        <p role="status">{text("settings.email.sent", { email })}</p>
      ) : (
        <Button isDisabled={action.pending} onPress={() => void action.run(send)}>
          {text("settings.email.verify")}
        </Button>
      )}
      <ErrorNotice error={action.error} />
    </div>
  );
}

function PasswordForm() {
  const text = useText();
  const { changePassword } = useSession();
  const [password, setPassword] = useState("");
  const [newPassword, setNewPassword] = useState("");
  const [endsAuthorizations, setEndsAuthorizations] = useState(false);
  const save = async () => {
    await changePassword({
      password,
      new_password: newPassword,
      ...(endsAuthorizations && { end_authorizations: true }),
    });
    setPassword("");
    setNewPassword("");
  };
  return (
    <section className="preferences-block">
      <h2>{text("settings.password")}</h2>
      <p className="field-hint">{text("settings.password.hint")}</p>
      <SettingsForm
        onSave={save}
        submit={text("settings.password.change")}
        done={text("settings.password.changed")}
        isDisabled={password === "" || newPassword === ""}
      >
        {({ error }) => (
          <>
            <TextField
              label={text("settings.password.old")}
              type="password"
              value={password}
              onChange={setPassword}
              autoComplete="current-password"
              error={fieldError(error, "password")}
            />
            <TextField
              label={text("settings.password.new")}
              type="password"
              value={newPassword}
              onChange={setNewPassword}
              autoComplete="new-password"
              error={fieldError(error, "new_password")}
            />
            <Checkbox
              label={text("settings.password.endAuthorizations")}
              isSelected={endsAuthorizations}
              onChange={setEndsAuthorizations}
            />
          </>
        )}
      </SettingsForm>
    </section>
  );
}
