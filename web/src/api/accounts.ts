import type { APIUser } from "discord-api-types/v10";

import { ApiClient } from "./client";
import { sign } from "./webauthn";

export interface Login {
  user_id: string;
  token: string;
}

export interface Registration {
  username: string;
  password: string;
  email?: string;
  global_name?: string;
  /** An invitation of the operator, where the server demands one. */
  registration_token?: string;
  /** Like 2000-12-31, where the server asks how old its people are. */
  date_of_birth?: string;
  /** Whether the user accepts the terms, where the server has some. */
  consent?: boolean;
  /** The solution of a challenge, where the server asks for one. */
  captcha_key?: string;
}

/** A new account that its user cannot log in to yet. */
export interface PendingAccount {
  user_id: string;
  required_actions: ("verify_email" | "await_approval")[];
}

/** Register an account and log in to it, unless its address must be verified or the operator approve it before. */
export function register(registration: Registration): Promise<Login | PendingAccount> {
  return new ApiClient(null).request("POST", "/auth/register", { body: registration });
}

/** Let the server's pages go on with a login of the client. */
export async function shareWithPages(token: string): Promise<void> {
  await fetch(PAGES_SESSION, { method: "POST", headers: { Authorization: token } }).catch(() => undefined);
}

/** The login of the server's pages, if there is one, for the client to go on with. */
export async function loginOfPages(): Promise<Login | null> {
  try {
    const response = await fetch(PAGES_SESSION, { method: "POST" });
    return response.status === 200 ? ((await response.json()) as Login) : null;
  } catch {
    return null;
  }
}

/** How people can log in here, beside passkeys, and what is asked of those who register. */
export interface LoginMethods {
  passwords: boolean;
  /** Identity providers, each with the page at which its login begins. */
  providers: { name: string; label: string; url: string }[];
  /** How old one must be to register; 0 if no date of birth is asked for. */
  min_age: number;
  /** The terms that one must accept to register. */
  terms_url: string | null;
  /** What this instance is called. */
  instance_name: string;
  /** Whether one solves a challenge to register. */
  proof_of_work: boolean;
}

/** A challenge of ALTCHA: the number up to `maxNumber` whose hash, after the salt, is `challenge`. */
export interface Challenge {
  algorithm: string;
  challenge: string;
  maxNumber: number;
  salt: string;
  signature: string;
}

export function getChallenge(): Promise<Challenge> {
  return new ApiClient(null).request("GET", "/auth/altcha");
}

let asking: Promise<LoginMethods> | null = null;

/** How people can log in; those who ask at the same time share the answer. */
export function getLoginMethods(): Promise<LoginMethods> {
  asking ??= new ApiClient(null).request<LoginMethods>("GET", "/auth/methods").finally(() => {
    asking = null;
  });
  return asking;
}

const PAGES_SESSION = "/login/session";

/** The codes of the refusal to log in to a closed account, which `undelete` restores. */
export const CLOSED_ACCOUNT = { deleted: 20_011, disabled: 20_013 } as const;

/** A login whose user has to prove a second factor. */
export interface FactorRequired {
  user_id: string;
  mfa: true;
  ticket: string;
  totp: boolean;
  backup: boolean;
  /** The challenge for passkeys and security keys, if the user has any. */
  webauthn: string | null;
}

/** Go on with a login by a code of an app, or a backup code. */
export function logInWithCode(ticket: string, code: string): Promise<Login> {
  return new ApiClient(null).request("POST", "/auth/mfa/totp", { body: { ticket, code } });
}

/** Go on with a login by a passkey or security key. */
export async function logInWithKey({ ticket, webauthn }: FactorRequired): Promise<Login> {
  const code = await sign(webauthn ?? "");
  return new ApiClient(null).request("POST", "/auth/mfa/webauthn", { body: { ticket, code } });
}

/** Log in by a passkey alone. */
export async function logInWithPasskey(): Promise<Login> {
  const api = new ApiClient(null);
  const { ticket, challenge } = await api.request<{ ticket: string; challenge: string }>(
    "POST",
    "/auth/conditional/start",
  );
  return api.request("POST", "/auth/conditional/finish", {
    body: { ticket, credential: await sign(challenge) },
  });
}

/** Log in with a username or an email address; with `undelete` to an account that was disabled or deleted. */
export function logIn(login: string, password: string, undelete = false): Promise<Login | FactorRequired> {
  return new ApiClient(null).request("POST", "/auth/login", {
    body: { login, password, ...(undelete && { undelete }) },
  });
}

/** Mail a link that verifies the account's address; refused where the server sends no mail. */
export function resendVerification(api: ApiClient): Promise<void> {
  return api.request("POST", "/auth/verify/resend");
}

/** Disable the account, or delete it after the server's waiting period. Ends all logins. */
export function closeAccount(api: ApiClient, way: "disable" | "delete", password: string): Promise<void> {
  return api.request("POST", `/users/@me/${way}`, { body: { password } });
}

/** End the session of the client's token. */
export function logOut(api: ApiClient): Promise<void> {
  return api.request("POST", "/auth/logout");
}

export interface AccountChanges {
  username?: string;
  global_name?: string | null;
  bio?: string | null;
  avatar?: string | null;
  banner?: string | null;
  accent_color?: number | null;
  email?: string;
  /** The present password, which a new name, address or password needs. */
  password?: string;
  new_password?: string;
  /** With a new password: revoke all authorizations of applications as well. */
  end_authorizations?: boolean;
}

/** Change the account; a new password returns a new token. */
export function modifyCurrentUser(
  api: ApiClient,
  changes: AccountChanges,
): Promise<APIUser & { token?: string }> {
  return api.request("PATCH", "/users/@me", { body: changes });
}
