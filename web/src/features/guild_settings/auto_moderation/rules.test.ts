import type { APIAutoModerationRule } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import { ActionType, bodyOf, creatableTypes, fieldsOf, newRule, TriggerType } from "./rules";

describe("the body of a rule", () => {
  it("has the trigger metadata of its type alone", () => {
    const fields = {
      ...newRule(TriggerType.KeywordPreset, "Presets"),
      keyword_filter: ["x"],
      allow_list: ["y"],
    };
    expect(bodyOf(TriggerType.KeywordPreset, fields).trigger_metadata).toEqual({
      presets: [1],
      allow_list: ["y"],
    });
    expect(bodyOf(TriggerType.Spam, fields).trigger_metadata).toEqual({});
  });

  it("has the parameters of each chosen action", () => {
    const fields = {
      ...newRule(TriggerType.Keyword, "Words"),
      actions: [ActionType.BlockMessage, ActionType.SendAlertMessage, ActionType.Timeout],
      alert_channel_id: "5",
      timeout_seconds: 300,
    };
    expect(bodyOf(TriggerType.Keyword, fields).actions).toEqual([
      { type: 1, metadata: {} },
      { type: 2, metadata: { channel_id: "5" } },
      { type: 3, metadata: { duration_seconds: 300 } },
    ]);
  });

  it("comes back as the fields that it was made of", () => {
    const fields = {
      ...newRule(TriggerType.MentionSpam, "Mentions"),
      custom_message: "Stop",
      exempt_roles: ["1"],
    };
    const rule = bodyOf(TriggerType.MentionSpam, fields) as unknown as APIAutoModerationRule;
    expect(fieldsOf(rule)).toEqual(fields);
  });
});

describe("the kinds of rules that can be created", () => {
  it("are those of which the guild has fewer than it may", () => {
    const rules = [{ trigger_type: 3 }, { trigger_type: 1 }] as unknown as APIAutoModerationRule[];
    expect(creatableTypes(rules)).toEqual([1, 4, 5, 6]);
  });
});
