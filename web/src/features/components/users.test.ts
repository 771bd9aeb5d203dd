import { describe, expect, it } from "vitest";

import { INITIAL_STATE, type State } from "../../store/state";
import { userChoices } from "./users";

const user = (id: string, username: string) => ({ id, username, global_name: null });

const STATE = {
  ...INITIAL_STATE,
  user: user("1", "ada"),
  channels: {
    "9": { id: "9", type: 1, recipients: [user("2", "bot")] },
    "8": { id: "8", type: 3, recipients: [user("2", "bot"), user("3", "ben")] },
  },
  members: { "5": { "4": { user: user("4", "eve"), roles: [] } } },
} as unknown as State;

const labels = (guildId: string | null) => userChoices(STATE, guildId).map(({ label }) => label);

describe("The users of a select", () => {
  it("are the members of a guild", () => {
    expect(labels("5")).toEqual(["eve"]);
  });

  it("are the user and those of the conversations elsewhere, each once", () => {
    expect(labels(null)).toEqual(["ada", "ben", "bot"]);
  });
});
