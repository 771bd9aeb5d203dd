import type { APIUser } from "discord-api-types/v10";

import { ApiClient } from "./client";

export interface Login {
  user_id: string;
  token: string;
}

export interface Registration {
  username: string;
  password: string;
  email?: string;
  global_name?: string;
}

/** Register an account and log in to it. */
export function register(registration: Registration): Promise<Login> {
  return new ApiClient(null).request("POST", "/auth/register", { body: registration });
}

/** Log in with a username or an email address. */
export function logIn(login: string, password: string): Promise<Login> {
  return new ApiClient(null).request("POST", "/auth/login", { body: { login, password } });
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
