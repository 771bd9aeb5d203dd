import { readFileSync } from "node:fs";

import type { APIChannel, GatewayDispatchPayload } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import { isThread } from "./channels";
import { filterEntries, mapValues, type ReadonlyRecord } from "./records";
import { reduce } from "./reducers";
import { INITIAL_STATE, type State } from "./state";

type Dispatch = readonly [name: GatewayDispatchPayload["t"], data: unknown];

/** What the server's own convergence tests recorded: dispatches of sessions, and of new ones afterwards. */
const RECORDING = new URL("../../../tests/gateway/recordings/changes.json", import.meta.url);
const CLIENTS = JSON.parse(readFileSync(RECORDING, "utf8")) as {
  changed: readonly Dispatch[];
  fresh: readonly Dispatch[];
}[];

function stateAfter(dispatches: readonly Dispatch[]): State {
  return dispatches.reduce((state, [name, data]) => reduce(state, name, data, 0), INITIAL_STATE);
}

const isArchived = (channel: APIChannel) => isThread(channel) && channel.thread_metadata?.archived === true;

/** Fields of events alone, and the count of a thread's members, of which members who leave the guild are not told. */
const NOT_COMPARED = new Set(["member_count", "newly_created", "total_message_sent", "guild_id", "member"]);

const compared = (record: ReadonlyRecord<object>) =>
  mapValues(record, (value) =>
    Object.fromEntries(Object.entries(value).filter(([name]) => !NOT_COMPARED.has(name))),
  );

/** What of a state new sessions are told as well: not archived threads. */
function known(state: State) {
  const channels = filterEntries(state.channels, (channel) => !isArchived(channel));
  return {
    user: state.user,
    guilds: state.guilds,
    channels: compared(channels),
    joinedThreads: Object.keys(filterEntries(channels, (channel) => "member" in channel)).sort(),
    members: mapValues<ReadonlyRecord<object>>(state.members, compared),
    voiceStates: mapValues<ReadonlyRecord<object>>(state.voiceStates, compared),
    stages: state.stages,
    scheduledEvents: state.scheduledEvents,
  };
}

describe("The state from events", () => {
  it.each(CLIENTS.map((client, index) => ({ index, ...client })))(
    "equals that of a new session: client $index",
    ({ changed, fresh }) => {
      expect(known(stateAfter(changed))).toEqual(known(stateAfter(fresh)));
    },
  );
});
