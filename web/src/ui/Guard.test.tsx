// @vitest-environment jsdom
import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";

import { Boundary } from "./Boundary";
import { Guard } from "./Guard";
import { noteLoadErrors } from "./loadErrors";

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

function Card({ error, text }: { error?: Error; text: string }) {
  if (error !== undefined) {
    throw error;
  }
  return <p>{text}</p>;
}

function cards(...errors: (Error | undefined)[]) {
  return errors.map((error, index) => (
    <Guard key={index} fallback={<p>bare {index}</p>}>
      <Card text={`card ${index}`} {...(error === undefined ? {} : { error })} />
    </Guard>
  ));
}

it("of many cards those that cannot be drawn are replaced, each alone", () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const { container } = render(
    <>{cards(undefined, new Error("undrawable"), undefined, new RangeError("depth"))}</>,
  );
  expect([...container.children].map((child) => child.textContent)).toEqual([
    "card 0",
    "bare 1",
    "card 2",
    "bare 3",
  ]);
});

it("a part that was not loaded is left to what offers to load it again", () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  noteLoadErrors();
  const error = new Error("Failed to fetch dynamically imported module");
  globalThis.dispatchEvent(Object.assign(new Event("vite:preloadError"), { payload: error }));
  const { container } = render(
    <Boundary passes={() => false} fallback={<p>load again</p>}>
      {cards(undefined, error)}
    </Boundary>,
  );
  expect(container.textContent).toBe("load again");
});
