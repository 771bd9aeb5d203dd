import { ApiClient } from "./client";
import { createCredential } from "./webauthn";

export interface BackupCode {
  code: string;
  consumed: boolean;
}

/** Whether there are codes of an app, and how many backup codes are left. */
export function getMfa(api: ApiClient): Promise<{ totp: boolean; backup_codes: number }> {
  return api.request("GET", "/users/@me/mfa");
}

/** Check the password before a secret is shown: the server refuses such a request for want of the secret. */
export const SECRET_MISSING = 60_005;

/** Switch on codes of an app; ends all logins and returns a new token. Without `secret` the password is checked. */
export function enableTotp(
  api: ApiClient,
  body: { password: string; secret?: string; code?: string },
): Promise<{ token: string; backup_codes: BackupCode[] }> {
  return api.request("POST", "/users/@me/mfa/totp/enable", { body });
}

/** Switch off codes of an app; ends all logins and returns a new token. */
export function disableTotp(api: ApiClient): Promise<{ token: string }> {
  return api.request("POST", "/users/@me/mfa/totp/disable");
}

/** Request new backup codes; with `key_mailed` they need a key that was mailed to the user. */
export function requestBackupCodes(
  api: ApiClient,
  password: string,
): Promise<{ regenerate_nonce: string; key_mailed: boolean }> {
  return api.request("POST", "/auth/verify/view-backup-codes-challenge", { body: { password } });
}

/** Replace the backup codes. */
export function replaceBackupCodes(
  api: ApiClient,
  nonce: string,
  key: string,
): Promise<{ backup_codes: BackupCode[] }> {
  return api.request("POST", "/users/@me/mfa/codes-verification", { body: { nonce, key, regenerate: true } });
}

/** Exchange the ticket of a refused request for a proof. */
export async function finishProof(
  api: ApiClient,
  ticket: string,
  type: string,
  data: string,
): Promise<string> {
  const body = { ticket, mfa_type: type, data };
  return (await api.request<{ token: string }>("POST", "/mfa/finish", { body })).token;
}

/** A passkey or security key. */
export interface Authenticator {
  id: string;
  name: string;
}

const AUTHENTICATORS = "/users/@me/mfa/webauthn/credentials";

export function listAuthenticators(api: ApiClient): Promise<Authenticator[]> {
  return api.request("GET", AUTHENTICATORS);
}

/** Add a passkey or security key, which the browser makes; the first factor of an account brings backup codes. */
export async function addAuthenticator(
  api: ApiClient,
  name: string,
): Promise<Authenticator & { backup_codes: BackupCode[] }> {
  const { ticket, challenge } = await api.request<{ ticket: string; challenge: string }>(
    "POST",
    AUTHENTICATORS,
    {
      body: {},
    },
  );
  const credential = await createCredential(challenge);
  return api.request("POST", AUTHENTICATORS, { body: { name, ticket, credential } });
}

export function deleteAuthenticator(api: ApiClient, id: string): Promise<void> {
  return api.request("DELETE", `${AUTHENTICATORS}/${id}`);
}

/** Let lost second factors be removed, by the ticket of a login; when that is. */
export function requestRecovery(ticket: string): Promise<{ recovery_at: string }> {
  return new ApiClient(null).request("POST", "/auth/recovery", { body: { ticket } });
}

const RECOVERY = "/users/@me/mfa/recovery";

/** When the user's second factors are removed as lost ones; null if they stay. */
export function getRecovery(api: ApiClient): Promise<{ recovery_at: string | null }> {
  return api.request("GET", RECOVERY);
}

/** Let the user's second factors stay. */
export function cancelRecovery(api: ApiClient): Promise<void> {
  return api.request("DELETE", RECOVERY);
}
