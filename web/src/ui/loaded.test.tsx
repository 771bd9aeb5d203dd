// @vitest-environment jsdom
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { loaded } from "./loaded";

const place = document.createElement("div");

/** Let React and promises go on, without any time passing. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

it("Code that comes late is drawn as soon as it is there, also inside of other such code", async () => {
  let arrive: (() => void) | undefined;
  const Inner = loaded(async () => Promise.resolve({ default: () => <em>inner</em> }));
  const Outer = loaded(async () => {
    await new Promise<void>((resolve) => (arrive = resolve));
    return { default: () => <Inner fallback="loading the inner" /> };
  });
  const root = createRoot(place);
  root.render(<Outer fallback="loading the outer" />);
  await settle();
  expect(place.innerHTML).toBe("loading the outer");
  arrive?.();
  await settle();
  expect(place.innerHTML).toBe("<em>inner</em>");
  root.unmount();
});

it("Code that could not be loaded is loaded by the next one to draw it", async () => {
  let online = false;
  const Late = loaded(async () => {
    await Promise.resolve();
    if (!online) {
      throw new Error("no network");
    }
    return { default: () => "here" };
  });
  const failures: unknown[] = [];
  const failed = createRoot(place, { onUncaughtError: (error) => failures.push(error) });
  failed.render(<Late />);
  await settle();
  expect(failures).toEqual([new Error("no network")]);
  failed.unmount();
  online = true;
  const root = createRoot(place);
  root.render(<Late />);
  await settle();
  expect(place.innerHTML).toBe("here");
  root.unmount();
});
