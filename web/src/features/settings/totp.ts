const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const SECRET_LENGTH = 32;

/** Make a random secret of 160 bits, in base32. */
export function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_LENGTH));
  return Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join("");
}

/** The URI that apps read from a QR code. */
export function otpauthUri(secret: string, username: string, host: string): string {
  const label = encodeURIComponent(`${host}:${username}`);
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(host)}`;
}
