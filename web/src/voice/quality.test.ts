import { expect, it } from "vitest";

import { gradeOf, readQuality } from "./quality";

const PAIR = { type: "candidate-pair", state: "succeeded", nominated: true, currentRoundTripTime: 0.021 };

it("The loss is that of all users since the last reading", () => {
  const inbound = (packetsReceived: number, packetsLost: number) => ({
    type: "inbound-rtp",
    packetsReceived,
    packetsLost,
  });
  const [first, counters] = readQuality([PAIR, inbound(90, 10), inbound(100, 0)], null);
  expect(first).toEqual({ roundTripMs: 21, loss: 0.05 });
  const [second] = readQuality([PAIR, inbound(190, 10), inbound(100, 0)], counters);
  expect(second).toEqual({ roundTripMs: 21, loss: 0 });
  // One of them has left, and with them what was counted.
  expect(readQuality([PAIR, inbound(100, 0)], counters)[0]).toEqual({ roundTripMs: 21, loss: 0 });
});

it("There is no quality before there is a way to the server", () => {
  expect(readQuality([{ ...PAIR, nominated: false }], null)[0]).toBeNull();
});

it("The worse figure decides the grade", () => {
  expect(gradeOf({ roundTripMs: 20, loss: 0 })).toBe("good");
  expect(gradeOf({ roundTripMs: 300, loss: 0 })).toBe("fair");
  expect(gradeOf({ roundTripMs: 20, loss: 0.05 })).toBe("fair");
  expect(gradeOf({ roundTripMs: 20, loss: 0.3 })).toBe("poor");
  expect(gradeOf({ roundTripMs: null, loss: 0 })).toBe("good");
});
