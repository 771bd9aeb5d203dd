import type { ApiClient } from "./client";

export interface BackupCode {
  code: string;
  consumed: boolean;
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
