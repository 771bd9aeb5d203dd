import { expect, test } from "vitest";

import { MessageLog } from "./messageLog";
import { Opcode } from "./rpc";

test("messages are named by their command and event, and say whether they failed", () => {
  const log = new MessageLog();
  log.add([Opcode.Handshake, { v: 1 }], true, 1);
  log.add([Opcode.Frame, { cmd: "DISPATCH", evt: "READY", data: {} }], false, 2);
  log.add([Opcode.Frame, { cmd: "SUBSCRIBE", evt: "ORIENTATION_UPDATE" }], true, 3);
  log.add([Opcode.Frame, { cmd: "GET_USER", evt: "ERROR", data: { code: 4006 } }], false, 4);
  log.add("junk", true, 5);
  expect(log.read().map(({ name, received, failed }) => [name, received, failed])).toEqual([
    ["HANDSHAKE", true, false],
    ["READY", false, false],
    ["SUBSCRIBE ORIENTATION_UPDATE", true, false],
    ["GET_USER ERROR", false, true],
    ["undefined", true, false],
  ]);
  expect(log.read()[3]?.text).toContain("4006");
});

test("tokens and codes are not kept", () => {
  const log = new MessageLog();
  log.add([Opcode.Frame, { cmd: "AUTHENTICATE", args: { access_token: "secret" } }], true, 1);
  log.add([Opcode.Frame, { cmd: "AUTHORIZE", evt: null, data: { code: "secret" } }], false, 2);
  expect(JSON.stringify(log.read())).not.toContain("secret");
});

test("the latest five hundred are kept, until they are cleared", () => {
  const log = new MessageLog();
  let changes = 0;
  log.subscribe(() => (changes += 1));
  for (let at = 1; at <= 510; at += 1) {
    log.add([Opcode.Frame, { cmd: "GET_USER" }], true, at);
  }
  expect([log.read().length, log.read()[0]?.at, log.read().at(-1)?.id]).toEqual([500, 11, 510]);
  log.clear();
  expect([log.read().length, changes]).toEqual([0, 511]);
});
