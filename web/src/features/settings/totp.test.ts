import { expect, test } from "vitest";

import { newSecret, otpauthUri } from "./totp";

test("a secret has 160 bits in base32, and no two are the same", () => {
  const secrets = Array.from({ length: 50 }, newSecret);
  expect(new Set(secrets).size).toBe(50);
  for (const secret of secrets) {
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  }
});

test("the URI names the server and the account, whatever is in their names", () => {
  const uri = new URL(otpauthUri("ABC", "al ice?", "moot.example:3333"));
  expect(uri.protocol).toBe("otpauth:");
  expect(decodeURIComponent(uri.pathname)).toMatch(/moot\.example:3333:al ice\?$/);
  expect(uri.searchParams.get("issuer")).toBe("moot.example:3333");
  expect(uri.searchParams.get("secret")).toBe("ABC");
});
