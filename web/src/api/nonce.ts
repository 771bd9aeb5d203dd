/** 24 characters that no other message or interaction of the user has. Works without a secure context as well. */
export function makeNonce(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
