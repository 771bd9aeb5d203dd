import { beforeEach, expect, test } from "vitest";

import { CloseCode, ErrorCode, Opcode, RpcConnection, RpcError, type Message } from "./rpc";

let posted: Message[];
let closed: number[];
let connection: RpcConnection;

const HANDSHAKE = { v: 1, encoding: "json", client_id: "1", frame_id: "f" };

beforeEach(() => {
  posted = [];
  closed = [];
  connection = new RpcConnection({
    clientId: "1",
    frameId: "f",
    commands: {
      ECHO: { needs: null, run: (args) => args },
      SECRET: { needs: ["identify", "guilds"], run: () => "secret" },
      FAIL: {
        needs: null,
        run: () => {
          throw new RpcError(ErrorCode.InvalidChannel, "No channel");
        },
      },
    },
    events: { LAYOUT: null, MEMBER: ["guilds"] },
    ready: () => ({ v: 1 }),
    initial: () => undefined,
    post: (message) => posted.push(message),
    onClose: (code) => closed.push(code),
    now: () => 0,
  });
});

async function send(frame: Record<string, unknown>): Promise<unknown> {
  connection.receive([Opcode.Frame, frame]);
  await Promise.resolve();
  await new Promise((resolve) => setTimeout(resolve));
  return posted.at(-1)?.[1];
}

test("a handshake is answered with READY", () => {
  connection.receive([Opcode.Handshake, HANDSHAKE]);
  expect(posted).toEqual([[Opcode.Frame, { cmd: "DISPATCH", data: { v: 1 }, evt: "READY", nonce: null }]]);
});

test.each([
  [{ client_id: "2" }, CloseCode.InvalidClientId],
  [{ v: 2 }, CloseCode.InvalidVersion],
  [{ encoding: "etf" }, CloseCode.InvalidEncoding],
])("a wrong handshake closes the connection", (wrong, code) => {
  connection.receive([Opcode.Handshake, { ...HANDSHAKE, ...wrong }]);
  expect(closed).toEqual([code]);
  expect(posted.map(([opcode]) => opcode)).toEqual([Opcode.Close]);
});

test("another frame's handshake and frames before a handshake have no answer", async () => {
  connection.receive([Opcode.Handshake, { ...HANDSHAKE, frame_id: "other" }]);
  await send({ cmd: "ECHO", nonce: "1" });
  for (const junk of [null, 1, "text", {}, [], [9, {}], [Opcode.Frame, null]]) {
    connection.receive(junk);
  }
  expect(posted).toEqual([]);
});

test("commands are answered with their nonce, errors with their public code", async () => {
  connection.receive([Opcode.Handshake, HANDSHAKE]);
  expect(await send({ cmd: "ECHO", args: { a: 1 }, nonce: "n" })).toEqual({
    cmd: "ECHO",
    data: { a: 1 },
    evt: null,
    nonce: "n",
  });
  expect(await send({ cmd: "FAIL", nonce: "n" })).toMatchObject({
    evt: "ERROR",
    data: { code: ErrorCode.InvalidChannel, message: "No channel" },
  });
  for (const cmd of ["NOTHING", "constructor", "toString"]) {
    expect(await send({ cmd, nonce: "n" })).toMatchObject({ data: { code: ErrorCode.InvalidCommand } });
  }
});

test("commands need all of their scopes", async () => {
  connection.receive([Opcode.Handshake, HANDSHAKE]);
  const refused = { evt: "ERROR", data: { code: ErrorCode.InvalidPermissions } };
  expect(await send({ cmd: "SECRET", nonce: "1" })).toMatchObject(refused);
  connection.authenticate(["identify"]);
  expect(await send({ cmd: "SECRET", nonce: "2" })).toMatchObject(refused);
  connection.authenticate(["identify", "guilds"]);
  expect(await send({ cmd: "SECRET", nonce: "3" })).toMatchObject({ data: "secret" });
  connection.receive([Opcode.Handshake, HANDSHAKE]);
  expect(await send({ cmd: "SECRET", nonce: "4" })).toMatchObject(refused);
});

test("only subscribed events are dispatched", async () => {
  connection.receive([Opcode.Handshake, HANDSHAKE]);
  connection.emit("LAYOUT", {});
  expect(posted).toHaveLength(1);
  expect(await send({ cmd: "SUBSCRIBE", evt: "LAYOUT", nonce: "1" })).toMatchObject({
    data: { evt: "LAYOUT" },
  });
  connection.emit("LAYOUT", { mode: 1 });
  expect(posted.at(-1)?.[1]).toMatchObject({ cmd: "DISPATCH", evt: "LAYOUT", data: { mode: 1 } });
  await send({ cmd: "UNSUBSCRIBE", evt: "LAYOUT", nonce: "2" });
  connection.emit("LAYOUT", { mode: 2 });
  expect(posted.at(-1)?.[1]).toMatchObject({ cmd: "UNSUBSCRIBE" });
  expect(await send({ cmd: "SUBSCRIBE", evt: "MEMBER", nonce: "3" })).toMatchObject({ evt: "ERROR" });
  expect(await send({ cmd: "SUBSCRIBE", evt: "OTHER", nonce: "4" })).toMatchObject({
    data: { code: ErrorCode.InvalidEvent },
  });
});

test("a flood of commands closes the connection", async () => {
  connection.receive([Opcode.Handshake, HANDSHAKE]);
  for (let count = 0; count <= 600; count += 1) {
    connection.receive([Opcode.Frame, { cmd: "ECHO", nonce: String(count) }]);
  }
  await new Promise((resolve) => setTimeout(resolve));
  expect(closed).toEqual([CloseCode.RateLimited]);
});
