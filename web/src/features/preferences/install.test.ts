import { expect, test, vi } from "vitest";

import { awaitInstallOffer, canInstall, install } from "./install";

function offerOf(prompt: () => Promise<unknown>): Event {
  return Object.assign(new Event("beforeinstallprompt", { cancelable: true }), { prompt });
}

test("the browser's offer waits for the user, and is good for one question", async () => {
  const target = new EventTarget();
  const prompt = vi.fn(() => Promise.resolve());
  awaitInstallOffer(target);
  expect(canInstall()).toBe(false);
  const event = offerOf(prompt);
  target.dispatchEvent(event);
  expect(event.defaultPrevented).toBe(true);
  expect(canInstall()).toBe(true);
  await install();
  await install();
  expect(prompt).toHaveBeenCalledTimes(1);
  expect(canInstall()).toBe(false);
});

test("once it is installed, nothing is offered", () => {
  const target = new EventTarget();
  awaitInstallOffer(target);
  target.dispatchEvent(offerOf(() => Promise.resolve()));
  target.dispatchEvent(new Event("appinstalled"));
  expect(canInstall()).toBe(false);
});
