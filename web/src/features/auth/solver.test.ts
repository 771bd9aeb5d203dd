import { expect, test } from "vitest";

import { solutionOf, solve } from "./solver";

const CHALLENGE = {
  algorithm: "SHA-256",
  // The hash of "salt&7".
  challenge: "f5bc20f3d5da3d71e31f1ebb6785518c889cef9f0e1b359f37f76e7c75d83d74",
  maxNumber: 20,
  salt: "salt&",
  signature: "s",
};

test("the number is found whose hash is the challenge", async () => {
  expect(await solve(CHALLENGE)).toBe(7);
  expect(await solve({ ...CHALLENGE, maxNumber: 6 })).toBeNull();
});

test("a solution names its challenge and the number", () => {
  expect(JSON.parse(atob(solutionOf(CHALLENGE, 7)))).toEqual({
    algorithm: "SHA-256",
    challenge: CHALLENGE.challenge,
    number: 7,
    salt: "salt&",
    signature: "s",
  });
});
