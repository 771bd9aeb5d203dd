import { Link } from "@tanstack/react-router";
import { useEffect, useState, type ReactNode } from "react";
import { Form } from "react-aria-components";
import { useIntl } from "react-intl";

import {
  CLOSED_ACCOUNT,
  getLoginMethods,
  logIn,
  logInWithCode,
  logInWithKey,
  logInWithPasskey,
  register,
  type FactorRequired,
  type Login,
  type LoginMethods,
  type PendingAccount,
} from "../../api/accounts";
import { ApiError } from "../../api/errors";
import { requestRecovery } from "../../api/factors";
import { hasPasskeys } from "../../api/webauthn";
import { Translate, useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { Checkbox } from "../../ui/fields";
import { TextField } from "../../ui/TextField";
import { ErrorNotice } from "../session/ErrorNotice";
import { proveWork } from "./proofOfWork";
import { fieldError, useAction, type Action } from "../session/useAction";
import "./auth.css";

const LOGIN_FIELDS = ["login", "password"];
const CODE_FIELDS = ["code"];
const REGISTER_FIELDS = [
  "username",
  "global_name",
  "email",
  "password",
  "registration_token",
  "date_of_birth",
  "consent",
];

interface AuthPageProps {
  onLogin: (login: Login) => void;
}

export function LoginPage({ onLogin }: AuthPageProps) {
  const text = useText();
  const action = useAction();
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [required, setRequired] = useState<FactorRequired | null>(null);
  const { passwords, providers } = useLoginMethods();
  const closed = closedAs(action.error);
  const submit = async () => {
    const login = await logIn(name, password, closed !== null);
    if ("token" in login) {
      onLogin(login);
    } else {
      setRequired(login);
    }
  };
  if (required !== null) {
    return <CodePage required={required} onLogin={onLogin} onBack={() => setRequired(null)} />;
  }
  return (
    <AuthCard title={text("auth.login.title")}>
      {providers.map(({ name: id, label, url }) => (
        // A page of the server, which comes back with a login that the client takes over.
        <a key={id} className="button button-plain" href={`${url}?next=${encodeURIComponent(nextPath())}`}>
          {text("auth.provider", { label })}
        </a>
      ))}
      {passwords && (
        <AuthForm
          action={closed === null ? action : { ...action, error: null }}
          fields={LOGIN_FIELDS}
          submit={text(closed === null ? "auth.login.submit" : "auth.restore.submit")}
          onSubmit={submit}
        >
          <TextField
            label={text("auth.login.name")}
            value={name}
            onChange={setName}
            isRequired
            autoFocus
            autoComplete="username"
            error={fieldError(action.error, "login")}
          />
          <TextField
            label={text("auth.password")}
            type="password"
            value={password}
            onChange={setPassword}
            isRequired
            autoComplete="current-password"
            error={fieldError(action.error, "password")}
          />
          {closed !== null && (
            <p role="alert" className="notice">
              {text(`auth.restore.${closed}`)}
            </p>
          )}
        </AuthForm>
      )}
      {hasPasskeys() && <PasskeyButton onLogin={onLogin} />}
      {passwords && (
        <>
          <p className="auth-other">
            {/* A page of the server: it works without scripts, and so does the link in the mail. */}
            <a href="/forgot">{text("auth.login.forgot")}</a>
          </p>
          <p className="auth-other">
            <Translate
              id="auth.login.other"
              values={{
                link: (chunks) => (
                  <Link key="link" to="/app/register" search={true}>
                    {chunks}
                  </Link>
                ),
              }}
            />
          </p>
        </>
      )}
    </AuthCard>
  );
}

/** How people can log in: with passwords alone, until the server says more. */
function useLoginMethods(): LoginMethods {
  const [methods, setMethods] = useState<LoginMethods>({
    passwords: true,
    providers: [],
    min_age: 0,
    terms_url: null,
    instance_name: "Moothall",
    proof_of_work: false,
  });
  useEffect(() => {
    let isShown = true;
    getLoginMethods().then(
      (loaded) => {
        if (isShown) {
          setMethods(loaded);
        }
      },
      // Logging in shows what is wrong with the connection.
      () => undefined,
    );
    return () => {
      isShown = false;
    };
  }, []);
  return methods;
}

/** The path to go on to after logging in. */
function nextPath(): string {
  return new URLSearchParams(location.search).get("next") ?? "/app/";
}

/** Logs in by a passkey alone. */
function PasskeyButton({ onLogin }: AuthPageProps) {
  const text = useText();
  const action = useAction();
  return (
    <div className="auth-other">
      <Button
        isDisabled={action.pending}
        onPress={() => void action.run(async () => onLogin(await logInWithPasskey()))}
      >
        {text("auth.passkey.use")}
      </Button>
      <ErrorNotice error={action.error} />
    </div>
  );
}

interface CodePageProps extends AuthPageProps {
  required: FactorRequired;
  onBack: () => void;
}

/** The second step of logging in: a code of an app, a backup code, or a passkey. */
function CodePage({ required, onLogin, onBack }: CodePageProps) {
  const text = useText();
  const action = useAction();
  const [code, setCode] = useState("");
  const [recoveryAt, setRecoveryAt] = useState<string | null>(null);
  const intl = useIntl();
  const recover = async () => setRecoveryAt((await requestRecovery(required.ticket)).recovery_at);
  if (recoveryAt !== null) {
    const moment = intl.formatDate(recoveryAt, { dateStyle: "long", timeStyle: "short" });
    return (
      <AuthCard title={text("auth.recovery.title")}>
        <p role="status">{text("auth.recovery.when", { moment })}</p>
        <p>{text("auth.recovery.until")}</p>
        <p className="auth-other">
          <Button onPress={onBack}>{text("common.back")}</Button>
        </p>
      </AuthCard>
    );
  }
  return (
    <AuthCard title={text("auth.code.title")}>
      <AuthForm
        action={action}
        fields={CODE_FIELDS}
        submit={text("auth.login.submit")}
        onSubmit={async () => onLogin(await logInWithCode(required.ticket, code))}
      >
        <TextField
          label={text("auth.code")}
          hint={text("auth.code.hint")}
          value={code}
          onChange={setCode}
          isRequired
          autoFocus
          autoComplete="one-time-code"
          error={fieldError(action.error, "code")}
        />
      </AuthForm>
      {required.webauthn !== null && hasPasskeys() && (
        <p className="auth-other">
          <Button
            isDisabled={action.pending}
            onPress={() => void action.run(async () => onLogin(await logInWithKey(required)))}
          >
            {text("auth.passkey.use")}
          </Button>
        </p>
      )}
      <p className="auth-other">
        <Button isDisabled={action.pending} onPress={() => void action.run(recover)}>
          {text("auth.recovery.ask")}
        </Button>
      </p>
      <p className="auth-other">
        <Button onPress={onBack}>{text("common.back")}</Button>
      </p>
    </AuthCard>
  );
}

/** How an account was closed that the user tried to log in to; null for other errors. */
function closedAs(error: unknown): "deleted" | "disabled" | null {
  const code = error instanceof ApiError ? error.code : 0;
  return code === CLOSED_ACCOUNT.deleted ? "deleted" : code === CLOSED_ACCOUNT.disabled ? "disabled" : null;
}

export function RegisterPage({ onLogin }: AuthPageProps) {
  const text = useText();
  const action = useAction();
  const [username, setUsername] = useState("");
  const [globalName, setGlobalName] = useState("");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [invitation, setInvitation] = useState(() => new URLSearchParams(location.search).get("token") ?? "");
  const [dateOfBirth, setDateOfBirth] = useState("");
  const [consent, setConsent] = useState(false);
  const methods = useLoginMethods();
  const consentError = fieldError(action.error, "consent");
  const [pendingAccount, setPendingAccount] = useState<PendingAccount | null>(null);
  const invitationError = fieldError(action.error, "registration_token");
  const submit = async () => {
    const account = await register({
      username,
      password,
      ...(globalName !== "" && { global_name: globalName }),
      ...(email !== "" && { email }),
      ...(invitation !== "" && { registration_token: invitation }),
      ...(dateOfBirth !== "" && { date_of_birth: dateOfBirth }),
      ...(consent && { consent }),
      ...(methods.proof_of_work && { captcha_key: await proveWork() }),
    });
    if ("token" in account) {
      onLogin(account);
    } else {
      setPendingAccount(account);
    }
  };
  if (pendingAccount !== null) {
    return <RegisteredPage account={pendingAccount} />;
  }
  return (
    <AuthCard title={text("auth.register.title")}>
      <AuthForm
        action={action}
        fields={REGISTER_FIELDS}
        submit={text("auth.register.submit")}
        onSubmit={submit}
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
          label={text("auth.register.globalName")}
          value={globalName}
          onChange={setGlobalName}
          autoComplete="nickname"
          error={fieldError(action.error, "global_name")}
        />
        <TextField
          label={text("auth.register.email")}
          hint={text("auth.register.emailHint")}
          type="email"
          value={email}
          onChange={setEmail}
          autoComplete="email"
          error={fieldError(action.error, "email")}
        />
        <TextField
          label={text("auth.password")}
          type="password"
          value={password}
          onChange={setPassword}
          isRequired
          autoComplete="new-password"
          error={fieldError(action.error, "password")}
        />
        {(invitationError !== undefined || invitation !== "") && (
          <TextField
            label={text("auth.register.invitation")}
            hint={text("auth.register.invitationHint")}
            value={invitation}
            onChange={setInvitation}
            autoComplete="off"
            error={invitationError}
          />
        )}
        {methods.min_age > 0 && (
          <TextField
            label={text("auth.register.dateOfBirth")}
            hint={text("auth.register.dateOfBirthHint")}
            type="date"
            value={dateOfBirth}
            onChange={setDateOfBirth}
            isRequired
            autoComplete="bday"
            error={fieldError(action.error, "date_of_birth")}
          />
        )}
        {methods.terms_url !== null && (
          <div className="field">
            <Checkbox label={text("auth.register.consent")} isSelected={consent} onChange={setConsent} />
            <a href={methods.terms_url} target="_blank" rel="noopener noreferrer">
              {text("auth.register.terms")}
            </a>
            {consentError !== undefined && <span className="field-error">{consentError}</span>}
          </div>
        )}
        {methods.proof_of_work && <p className="field-hint">{text("auth.register.work")}</p>}
      </AuthForm>
      <p className="auth-other">
        <Translate
          id="auth.register.other"
          values={{
            link: (chunks) => (
              <Link key="link" to="/app/login" search={true}>
                {chunks}
              </Link>
            ),
          }}
        />
      </p>
    </AuthCard>
  );
}

/** What is required before the user can log in to the account that they have registered. */
function RegisteredPage({ account }: { account: PendingAccount }) {
  const text = useText();
  const action = account.required_actions.includes("verify_email") ? "verify" : "approval";
  return (
    <AuthCard title={text("auth.registered.title")}>
      <p role="status">{text(`auth.registered.${action}`)}</p>
      <p className="auth-other">
        <Link to="/app/login" search={true}>
          {text("auth.login.submit")}
        </Link>
      </p>
    </AuthCard>
  );
}

/** A page about an account, before one has logged in. */
export function AuthCard({ title, children }: { title: string; children: ReactNode }) {
  const { instance_name } = useLoginMethods();
  return (
    <main className="auth">
      <div className="auth-card">
        <p className="auth-brand">
          <img src="/icon.svg" alt="" width={40} height={40} />
          <span>
            <strong dir="auto">{instance_name}</strong>
            <br />
            <Translate id="auth.tagline" />
          </span>
        </p>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}

interface AuthFormProps {
  action: Action;
  /** The paths of the fields that show their own errors. */
  fields: readonly string[];
  submit: string;
  onSubmit: () => Promise<void>;
  children: ReactNode;
}

export function AuthForm({ action, fields, submit, onSubmit, children }: AuthFormProps) {
  return (
    <Form
      className="auth-form"
      validationBehavior="aria"
      onSubmit={(event) => {
        event.preventDefault();
        void action.run(onSubmit);
      }}
    >
      {children}
      <ErrorNotice error={action.error} shown={fields} />
      <Button type="submit" kind="primary" isDisabled={action.pending}>
        {submit}
      </Button>
    </Form>
  );
}
