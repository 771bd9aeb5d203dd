// Terms of Erlang as erlpack reads and writes them, on a live server (test_discord_js.py has its environment).
import assert from "node:assert/strict";
import { test } from "node:test";
import { createInflate, constants } from "node:zlib";

import erlpack from "erlpack";

const { MOOTHALL_URL, BOT_TOKEN, PERSON_TOKEN, CHANNEL_ID } = process.env;
const GATEWAY = `${MOOTHALL_URL.replace("http", "ws")}/gateway?v=10`;

/** A gateway session: `next` resolves with the first dispatch of a name that is not yet read. */
class Session {
  constructor(query, pack, unpack) {
    this.pack = pack;
    this.payloads = [];
    this.waiting = [];
    this.socket = new WebSocket(GATEWAY + query);
    this.socket.binaryType = "arraybuffer";
    this.socket.addEventListener("message", async ({ data }) => {
      const payload = await unpack(data);
      if (payload.op === 10) this.send({ op: 2, d: { token: BOT_TOKEN, intents: 33281, properties: {}, shard: [0, 1] } });
      else this.payloads.push(payload);
      for (const wake of this.waiting.splice(0)) wake();
    });
  }

  send(payload) {
    this.socket.send(this.pack(payload));
  }

  async next(check) {
    for (;;) {
      const index = this.payloads.findIndex(check);
      if (index >= 0) return this.payloads.splice(index, 1)[0];
      await new Promise((resolve) => this.waiting.push(resolve));
    }
  }

  close() {
    this.socket.close(1000);
  }
}

/** Reads one zlib stream in the pieces in which it arrives. */
function inflater() {
  const inflate = createInflate({ finishFlush: constants.Z_SYNC_FLUSH });
  let last = Promise.resolve();
  return (data) => {
    last = last.then(
      () =>
        new Promise((resolve, reject) => {
          const pieces = [];
          const collect = (piece) => pieces.push(piece);
          inflate.on("data", collect);
          inflate.once("error", reject);
          inflate.write(Buffer.from(data));
          inflate.flush(constants.Z_SYNC_FLUSH, () => {
            inflate.off("data", collect);
            inflate.off("error", reject);
            resolve(Buffer.concat(pieces));
          });
        }),
    );
    return last;
  };
}

const ENCODINGS = {
  json: () => new Session("&encoding=json", JSON.stringify, JSON.parse),
  etf: () => new Session("&encoding=etf", erlpack.pack, (data) => erlpack.unpack(Buffer.from(data))),
  "etf with zlib-stream": () => {
    const inflate = inflater();
    return new Session("&encoding=etf&compress=zlib-stream", erlpack.pack, async (data) =>
      erlpack.unpack(await inflate(data)),
    );
  },
};

test("a session of any encoding reads the same", { timeout: 30_000 }, async () => {
  const sessions = Object.values(ENCODINGS).map((open) => open());
  const read = await Promise.all(
    sessions.map(async (session) => {
      const ready = await session.next((payload) => payload.t === "READY");
      const guild = await session.next((payload) => payload.t === "GUILD_CREATE");
      delete ready.d.session_id;
      delete ready.d._trace; // tells how long this session took
      delete guild.d.presences;
      return [ready, guild];
    }),
  );
  const sent = await fetch(`${MOOTHALL_URL}/api/v10/channels/${CHANNEL_ID}/messages`, {
    method: "POST",
    headers: { authorization: PERSON_TOKEN, "content-type": "application/json" },
    body: JSON.stringify({ content: "h\u00e9 \u{1f600} ".repeat(100), embeds: [{ title: "a", color: 5 }] }),
  });
  assert.equal(sent.status, 200);
  const { id } = await sent.json();
  for (const [index, session] of sessions.entries()) {
    read[index].push((await session.next((payload) => payload.t === "MESSAGE_CREATE" && payload.d.id === id)).d);
    session.send({ op: 1, d: 1 });
    read[index].push(await session.next((payload) => payload.op === 11));
    session.close();
  }
  const [json, ...others] = read;
  for (const other of others) assert.deepEqual(other, json);
});
