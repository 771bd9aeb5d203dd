import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";

import { checkSetupLink, claimServer } from "../../api/admin";
import type { Login } from "../../api/accounts";
import { useText, WithTexts } from "../../i18n/translate";
import type { Part } from "../../i18n/messages";
import { TextField } from "../../ui/TextField";
import { AuthCard, AuthForm } from "../auth/AuthPages";
import { ErrorNotice } from "../session/ErrorNotice";
import { fieldError, useAction } from "../session/useAction";

const PARTS: readonly Part[] = ["setup"];
const FIELDS = ["username", "password"];

interface ClaimPageProps {
  /** The token of the link. */
  token: string;
  onLogin: (login: Login) => void;
}

/** The first operator's account, by the link on the server's console. */
export default function ClaimPage(props: ClaimPageProps) {
  return (
    <WithTexts parts={PARTS}>
      <Claim {...props} />
    </WithTexts>
  );
}

function Claim({ token, onLogin }: ClaimPageProps) {
  const text = useText();
  const action = useAction();
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const [isGood, setGood] = useState<boolean | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  useEffect(() => {
    let isShown = true;
    checkSetupLink(token).then(
      ({ good }) => isShown && setGood(good),
      (error: unknown) => isShown && setFailure(error),
    );
    return () => {
      isShown = false;
    };
  }, [token]);
  if (isGood !== true) {
    return (
      <AuthCard title={text("setup.title")}>
        <ErrorNotice error={failure} />
        {isGood === false && (
          <>
            <p role="alert">{text("setup.link.bad")}</p>
            <p className="auth-other">{text("setup.link.new")}</p>
            <p className="auth-other">
              <Link to="/setup/$stepId" params={{ stepId: "start" }}>
                {text("setup.link.resume")}
              </Link>
            </p>
          </>
        )}
      </AuthCard>
    );
  }
  return (
    <AuthCard title={text("setup.title")}>
      <p>{text("setup.account.about")}</p>
      <AuthForm
        action={action}
        fields={FIELDS}
        submit={text("setup.account.submit")}
        onSubmit={async () => onLogin(await claimServer(token, username.trim(), password))}
      >
        <TextField
          label={text("auth.register.username")}
          hint={text("auth.register.usernameHint")}
          value={username}
          onChange={setUsername}
          isRequired
          autoFocus
          autoComplete="username"
          error={fieldError(action.error, "username")}
        />
        <TextField
          label={text("auth.password")}
          hint={text("setup.account.password")}
          type="password"
          value={password}
          onChange={setPassword}
          isRequired
          autoComplete="new-password"
          error={fieldError(action.error, "password")}
        />
      </AuthForm>
    </AuthCard>
  );
}
