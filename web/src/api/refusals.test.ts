import { afterEach, expect, test, vi } from "vitest";

import type { Locale } from "../i18n/locales";
import { ApiClient } from "./client";
import { ApiError } from "./errors";
import { setRefusalLocale } from "./refusals";

const BODY = {
  code: 50035,
  message: "Invalid Form Body",
  errors: {
    name: { _errors: [{ code: "BASE_TYPE_BAD_LENGTH", message: "Must be between 2 and 100 in length." }] },
    odd: { _errors: [{ code: "ODD", message: "It is odd" }] },
  },
};

async function refused(): Promise<ApiError> {
  vi.stubGlobal("fetch", () => Promise.resolve(Response.json(BODY, { status: 400 })));
  const error = await new ApiClient(null).request("POST", "/guilds").catch((caught: unknown) => caught);
  if (!(error instanceof ApiError)) {
    throw new Error("no refusal");
  }
  return error;
}

afterEach(() => {
  vi.unstubAllGlobals();
  setRefusalLocale(() => "en");
});

test("a refusal is English for users whose client is English", async () => {
  const error = await refused();
  expect(error.message).toBe("Invalid Form Body");
  expect(error.field("name")).toBe("Must be between 2 and 100 in length.");
});

test("a refusal has its texts in the language of the client, and its codes as they were", async () => {
  setRefusalLocale(() => "de");
  const error = await refused();
  expect(error.message).toBe("Einige Werte wurden abgelehnt.");
  expect(error.original).toBe("Invalid Form Body");
  expect([error.status, error.code]).toEqual([400, 50035]);
  expect(error.fields).toEqual([
    { path: "name", code: "BASE_TYPE_BAD_LENGTH", message: "Die Länge muss zwischen 2 und 100 liegen." },
    { path: "odd", code: "ODD", message: "It is odd" },
  ]);
});

test("another language counts from the next refusal on", async () => {
  let locale: Locale = "de";
  setRefusalLocale(() => locale);
  expect((await refused()).message).toBe("Einige Werte wurden abgelehnt.");
  locale = "en";
  expect((await refused()).message).toBe("Invalid Form Body");
});
