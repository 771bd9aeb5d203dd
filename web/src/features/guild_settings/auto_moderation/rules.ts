import type { APIAutoModerationRule } from "discord-api-types/v10";

import type { RuleBody } from "../../../api/moderation";

export const TriggerType = {
  Keyword: 1,
  Spam: 3,
  KeywordPreset: 4,
  MentionSpam: 5,
  MemberProfile: 6,
} as const;
export type TriggerType = (typeof TriggerType)[keyof typeof TriggerType];

export const ActionType = {
  BlockMessage: 1,
  SendAlertMessage: 2,
  Timeout: 3,
  BlockMemberInteraction: 4,
} as const;
export type ActionType = (typeof ActionType)[keyof typeof ActionType];

/** The kinds of rules, with how many of each a guild can have and what they can do; the first is the default. */
export const TRIGGERS: Readonly<Record<TriggerType, { max: number; actions: readonly ActionType[] }>> = {
  1: { max: 6, actions: [ActionType.BlockMessage, ActionType.SendAlertMessage, ActionType.Timeout] },
  3: { max: 1, actions: [ActionType.BlockMessage, ActionType.SendAlertMessage] },
  4: { max: 1, actions: [ActionType.BlockMessage, ActionType.SendAlertMessage] },
  5: { max: 1, actions: [ActionType.BlockMessage, ActionType.SendAlertMessage, ActionType.Timeout] },
  6: { max: 1, actions: [ActionType.BlockMemberInteraction, ActionType.SendAlertMessage] },
};
export const TRIGGER_TYPES: readonly TriggerType[] = [1, 3, 4, 5, 6];

/** A rule as the form edits it: every field of every trigger and action type. */
export interface RuleFields {
  name: string;
  enabled: boolean;
  keyword_filter: readonly string[];
  regex_patterns: readonly string[];
  allow_list: readonly string[];
  presets: readonly number[];
  mention_total_limit: number;
  mention_raid_protection_enabled: boolean;
  /** The chosen actions, in the order of their types. */
  actions: readonly ActionType[];
  custom_message: string;
  alert_channel_id: string;
  timeout_seconds: number;
  exempt_roles: readonly string[];
  exempt_channels: readonly string[];
}

export function newRule(type: TriggerType, name: string): RuleFields {
  return {
    name,
    enabled: true,
    keyword_filter: [],
    regex_patterns: [],
    allow_list: [],
    presets: type === TriggerType.KeywordPreset ? [1] : [],
    mention_total_limit: 20,
    mention_raid_protection_enabled: false,
    actions: TRIGGERS[type].actions.slice(0, 1),
    custom_message: "",
    alert_channel_id: "",
    timeout_seconds: 60,
    exempt_roles: [],
    exempt_channels: [],
  };
}

export function fieldsOf(rule: APIAutoModerationRule): RuleFields {
  const metadata = rule.trigger_metadata as Partial<RuleFields>;
  const metadataOf = (type: ActionType) =>
    rule.actions.find((action) => (action.type as number) === type)?.metadata;
  return {
    name: rule.name,
    enabled: rule.enabled,
    keyword_filter: metadata.keyword_filter ?? [],
    regex_patterns: metadata.regex_patterns ?? [],
    allow_list: metadata.allow_list ?? [],
    presets: metadata.presets ?? [],
    mention_total_limit: metadata.mention_total_limit ?? 0,
    mention_raid_protection_enabled: metadata.mention_raid_protection_enabled ?? false,
    actions: rule.actions.map((action) => action.type as number as ActionType).sort((a, b) => a - b),
    custom_message: metadataOf(ActionType.BlockMessage)?.custom_message ?? "",
    alert_channel_id: metadataOf(ActionType.SendAlertMessage)?.channel_id ?? "",
    timeout_seconds: metadataOf(ActionType.Timeout)?.duration_seconds ?? 60,
    exempt_roles: rule.exempt_roles,
    exempt_channels: rule.exempt_channels,
  };
}

/** The body that creates or changes a rule of a type: the fields of other types are left out. */
export function bodyOf(type: TriggerType, fields: RuleFields): RuleBody {
  const keywords = {
    keyword_filter: fields.keyword_filter,
    regex_patterns: fields.regex_patterns,
    allow_list: fields.allow_list,
  };
  const metadata: Record<TriggerType, object> = {
    1: keywords,
    3: {},
    4: { presets: fields.presets, allow_list: fields.allow_list },
    5: {
      mention_total_limit: fields.mention_total_limit,
      mention_raid_protection_enabled: fields.mention_raid_protection_enabled,
    },
    6: keywords,
  };
  return {
    name: fields.name,
    enabled: fields.enabled,
    event_type: type === TriggerType.MemberProfile ? 2 : 1,
    trigger_type: type,
    trigger_metadata: metadata[type],
    actions: fields.actions.map((action) => actionOf(action, fields)),
    exempt_roles: fields.exempt_roles,
    exempt_channels: fields.exempt_channels,
  };
}

function actionOf(type: ActionType, fields: RuleFields): RuleBody["actions"][number] {
  const metadata: Record<ActionType, object> = {
    1: fields.custom_message === "" ? {} : { custom_message: fields.custom_message },
    2: fields.alert_channel_id === "" ? {} : { channel_id: fields.alert_channel_id },
    3: { duration_seconds: fields.timeout_seconds },
    4: {},
  };
  return { type, metadata: metadata[type] };
}

/** The kinds of which a guild can have another rule. */
export function creatableTypes(rules: readonly APIAutoModerationRule[]): TriggerType[] {
  return TRIGGER_TYPES.filter(
    (type) => rules.filter((rule) => (rule.trigger_type as number) === type).length < TRIGGERS[type].max,
  );
}
