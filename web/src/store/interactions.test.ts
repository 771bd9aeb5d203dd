import { describe, expect, it } from "vitest";

import { addInteraction } from "./interactions";
import { reduce } from "./reducers";
import { INITIAL_STATE } from "./state";

const COMMAND = { channelId: "1", name: "roll", applicationName: "Dice" };
const USED = addInteraction(INITIAL_STATE, "n", "", COMMAND);

describe("interactions of the user", () => {
  it("are pending until the application has responded", () => {
    expect(USED.interactions["n"]).toEqual({ target: "", command: COMMAND, failed: false, reason: null });
    expect(reduce(USED, "INTERACTION_SUCCESS", { id: "5", nonce: "n" }, 0).interactions).toEqual({});
  });

  it("fail with a reason or without one, and those of other sessions do not matter", () => {
    const failed = reduce(USED, "INTERACTION_FAILURE", { id: "5", nonce: "n", reason_code: 2 }, 0);
    expect(failed.interactions["n"]).toMatchObject({ failed: true, reason: null });
    expect(
      reduce(USED, "INTERACTION_FAILURE", { nonce: "n", reason: "No." }, 0).interactions["n"]?.reason,
    ).toBe("No.");
    expect(reduce(USED, "INTERACTION_FAILURE", { id: "5", nonce: "other" }, 0)).toBe(USED);
  });

  it("end when their modal opens", () => {
    const modal = { id: "5", nonce: "n", channel_id: "1", custom_id: "m", title: "T", components: [] };
    const opened = reduce(USED, "INTERACTION_MODAL_CREATE", modal, 0);
    expect(opened.interactions).toEqual({});
    expect(opened.modal?.title).toBe("T");
  });

  it("of autocompletion bring choices", () => {
    const choices = [{ name: "Dog", value: "dog" }];
    const state = reduce(USED, "APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE", { nonce: "a", choices }, 0);
    expect(state.autocomplete).toEqual({ nonce: "a", choices });
  });
});
