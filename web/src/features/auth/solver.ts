import type { Challenge } from "../../api/accounts";

/** The number that solves a challenge; null if there is none. */
export async function solve({ challenge, salt, maxNumber }: Challenge): Promise<number | null> {
  const encoder = new TextEncoder();
  for (let number = 0; number <= maxNumber; number += 1) {
    const digest = await crypto.subtle.digest("SHA-256", encoder.encode(salt + String(number)));
    if (hexOf(digest) === challenge) {
      return number;
    }
  }
  return null;
}

function hexOf(buffer: ArrayBuffer): string {
  return [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A solution as it is sent: JSON in base64. */
export function solutionOf(challenge: Challenge, number: number): string {
  const { algorithm, salt, signature } = challenge;
  return btoa(JSON.stringify({ algorithm, challenge: challenge.challenge, number, salt, signature }));
}
