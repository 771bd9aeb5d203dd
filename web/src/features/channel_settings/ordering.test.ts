import type { APIChannel } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import { moveByOne, moveChannel, positionChanges, type Order } from "./ordering";

const channel = (id: string, type: number, position: number, parent_id: string | null = null) =>
  ({ id, type, position, parent_id }) as unknown as APIChannel;

/** welcome; A: a1, a2, (voice) a3; B: b1. */
const ORDER: Order = [
  channel("welcome", 0, 0),
  channel("A", 4, 0),
  channel("a1", 0, 1, "A"),
  channel("a2", 0, 2, "A"),
  channel("a3", 2, 0, "A"),
  channel("B", 4, 1),
  channel("b1", 0, 3, "B"),
];
const ids = (order: Order) => order.map((each) => each.id).join(" ");

describe("moving a channel", () => {
  it("changes nothing where nothing moves", () => {
    expect(positionChanges(ORDER)).toEqual([]);
    expect(moveChannel(ORDER, "a1", "a1", "after")).toBe(ORDER);
    expect(moveChannel(ORDER, "a1", "unknown", "after")).toBe(ORDER);
  });

  it("sorts it within its category", () => {
    const order = moveChannel(ORDER, "a2", "a1", "before");
    expect(ids(order)).toBe("welcome A a2 a1 a3 B b1");
    expect(positionChanges(order)).toEqual([
      { id: "a2", position: 1 },
      { id: "a1", position: 2 },
    ]);
  });

  it("takes it into another category, or out of all", () => {
    expect(positionChanges(moveChannel(ORDER, "a3", "B", "after"))).toEqual([
      { id: "a3", position: 0, parent_id: "B" },
    ]);
    const out = moveChannel(ORDER, "b1", "welcome", "after");
    expect(positionChanges(out).find((each) => each.id === "b1")).toEqual({
      id: "b1",
      position: 1,
      parent_id: null,
    });
  });

  it("takes the channels of a category along, and puts it between others", () => {
    expect(ids(moveChannel(ORDER, "B", "A", "before"))).toBe("welcome B b1 A a1 a2 a3");
    expect(ids(moveChannel(ORDER, "B", "a2", "before"))).toBe("welcome B b1 A a1 a2 a3");
    expect(ids(moveChannel(ORDER, "A", "b1", "after"))).toBe("welcome B b1 A a1 a2 a3");
    expect(ids(moveChannel(ORDER, "B", "welcome", "before"))).toBe("welcome B b1 A a1 a2 a3");
    expect(
      positionChanges(moveChannel(ORDER, "B", "A", "before")).every((each) => !("parent_id" in each)),
    ).toBe(true);
  });
});

describe("moving by one place", () => {
  const parentOf = (order: Order, id: string) =>
    positionChanges(order).find((each) => each.id === id)?.parent_id;

  it("stays where there is no further place", () => {
    expect(moveByOne(ORDER, "welcome", -1)).toBe(ORDER);
    expect(moveByOne(ORDER, "b1", 1)).toBe(ORDER);
    expect(moveByOne(ORDER, "unknown", 1)).toBe(ORDER);
  });

  it("leads past the neighbour, and past the edge of a category into the next one", () => {
    expect(ids(moveByOne(ORDER, "a1", 1))).toBe("welcome A a2 a1 a3 B b1");
    expect(parentOf(moveByOne(ORDER, "a2", 1), "a2")).toBe("B");
    expect(parentOf(moveByOne(ORDER, "a1", -1), "a1")).toBe(null);
    expect(parentOf(moveByOne(ORDER, "a3", 1), "a3")).toBe("B");
  });

  it("takes the channels of a category along", () => {
    expect(ids(moveByOne(ORDER, "A", 1))).toBe("welcome B b1 A a1 a2 a3");
    expect(ids(moveByOne(ORDER, "B", -1))).toBe("welcome B b1 A a1 a2 a3");
    expect(moveByOne(ORDER, "B", 1)).toBe(ORDER);
  });
});
