import { Link, useNavigate } from "@tanstack/react-router";
import type { APIAutoModerationRule } from "discord-api-types/v10";
import { ArrowLeft, Trash2 } from "lucide-react";
import { useState } from "react";

import { createRule, deleteRule, modifyRule } from "../../../api/moderation";
import { useText } from "../../../i18n/translate";
import type { GuildState } from "../../../store/state";
import { Button } from "../../../ui/controls";
import { TextField } from "../../../ui/TextField";
import { Checkbox, Switch, TagsField } from "../../../ui/fields";
import { Picker } from "../../../ui/Picker";
import { NumberField } from "../../../ui/NumberField";
import { Select } from "../../../ui/Select";
import { useSession } from "../../session/session";
import { Confirm } from "../../session/Confirm";
import { roleOptions } from "../../members/roleOptions";
import { FormFrame } from "../Form";
import { settingsLink } from "../links";
import { OPEN_TYPES, optional, TEXT_TYPES, useChannelOptions } from "../options";
import { useForm, type SettingsForm } from "../../session/useForm";
import { ActionType, bodyOf, fieldsOf, newRule, TRIGGERS, TriggerType, type RuleFields } from "./rules";

const PRESETS = [1, 2, 3] as const;
const TIMEOUTS = ["60", "300", "600", "3600", "86400", "604800", "2419200"] as const;

interface RuleEditorProps {
  guild: GuildState;
  /** Null for a new one. */
  rule: APIAutoModerationRule | null;
  type: TriggerType;
  /** Whether the user may let the rule time members out. */
  canModerate: boolean;
  onChange: () => Promise<unknown>;
}

/** Edits an auto moderation rule: what triggers it, what it does, and whom it spares. */
export function RuleEditor({ guild, rule, type, canModerate, onChange }: RuleEditorProps) {
  const text = useText();
  const { api } = useSession();
  const channels = useChannelOptions(guild.id, OPEN_TYPES);
  const navigate = useNavigate();
  const [blank] = useState(() => newRule(type, text(`guildSettings.automod.type.${type}`)));
  const [deleting, setDeleting] = useState(false);
  const form = useForm(rule === null ? { ...blank, name: "" } : fieldsOf(rule), async (_changes, value) => {
    const body = bodyOf(type, value);
    if (rule === null) {
      const created = await createRule(api, guild.id, body);
      await onChange();
      await navigate({ ...settingsLink(guild.id, "auto-moderation", created.id), ignoreBlocker: true });
    } else {
      await modifyRule(api, guild.id, rule.id, body);
      await onChange();
    }
  });
  const { value, set, errorOf } = form;
  return (
    <>
      <div className="settings-item-header">
        <Link {...settingsLink(guild.id, "auto-moderation")} className="settings-back">
          <ArrowLeft size={16} aria-hidden="true" /> {text("guildSettings.automod")}
        </Link>
        <div className="settings-card-header">
          <h2>{rule?.name ?? blank.name}</h2>
          {rule !== null && (
            <Button kind="danger" onPress={() => setDeleting(true)}>
              <Trash2 size={16} aria-hidden="true" /> {text("common.delete")}
            </Button>
          )}
        </div>
        <p className="field-hint">{text(`guildSettings.automod.type.${type}.hint`)}</p>
      </div>
      <FormFrame
        form={form}
        shown={["name", "trigger_metadata", "actions", "exempt_roles", "exempt_channels"]}
      >
        <TextField
          label={text("guildSettings.automod.name")}
          value={value.name}
          onChange={(name) => set("name", name)}
          isRequired
          maxLength={100}
          error={errorOf("name")}
        />
        <Switch
          label={text("guildSettings.automod.active")}
          isSelected={value.enabled}
          onChange={(enabled) => set("enabled", enabled)}
        />
        <Trigger form={form} type={type} />
        <Actions form={form} type={type} guild={guild} canModerate={canModerate} />
        <h2>{text("guildSettings.automod.exempt")}</h2>
        <Picker
          label={text("guildSettings.automod.exemptRoles")}
          options={roleOptions(guild)}
          value={value.exempt_roles}
          max={20}
          onChange={(ids) => set("exempt_roles", ids)}
          error={errorOf("exempt_roles")}
        />
        {type !== TriggerType.MemberProfile && (
          <Picker
            label={text("guildSettings.automod.exemptChannels")}
            options={channels}
            value={value.exempt_channels}
            max={50}
            onChange={(ids) => set("exempt_channels", ids)}
            error={errorOf("exempt_channels")}
          />
        )}
      </FormFrame>
      {deleting && rule !== null && (
        <Confirm
          title={text("guildSettings.deleteNamed", { name: rule.name })}
          question={text("guildSettings.deleteNamed.question")}
          confirm={text("common.delete")}
          onConfirm={async () => {
            await deleteRule(api, guild.id, rule.id);
            await navigate({ ...settingsLink(guild.id, "auto-moderation"), ignoreBlocker: true });
            await onChange();
          }}
          onClose={() => setDeleting(false)}
        />
      )}
    </>
  );
}

interface PartProps {
  form: SettingsForm<RuleFields>;
  type: TriggerType;
}

function Trigger({ form, type }: PartProps) {
  const text = useText();
  const { value, set, errorOf } = form;
  const hasKeywords = type === TriggerType.Keyword || type === TriggerType.MemberProfile;
  const tags = (
    field: "keyword_filter" | "regex_patterns" | "allow_list",
    max: number,
    maxLength: number,
  ) => (
    <TagsField
      label={text(`guildSettings.automod.${field}`)}
      hint={text(`guildSettings.automod.${field}.hint`)}
      value={value[field]}
      max={max}
      maxLength={maxLength}
      hasCommas={field === "regex_patterns"}
      onChange={(list) => set(field, list)}
      error={errorOf(`trigger_metadata.${field}`)}
    />
  );
  if (type === TriggerType.Spam) {
    return null;
  }
  return (
    <>
      <h2>{text("guildSettings.automod.trigger")}</h2>
      {hasKeywords && tags("keyword_filter", 1000, 60)}
      {hasKeywords && tags("regex_patterns", 10, 260)}
      {type === TriggerType.KeywordPreset && (
        <fieldset className="settings-fieldset">
          <legend className="field-label">{text("guildSettings.automod.presets")}</legend>
          {PRESETS.map((preset) => (
            <Checkbox
              key={preset}
              label={text(`guildSettings.automod.preset.${preset}`)}
              isSelected={value.presets.includes(preset)}
              onChange={(on) =>
                set(
                  "presets",
                  on ? [...value.presets, preset].sort() : value.presets.filter((each) => each !== preset),
                )
              }
            />
          ))}
          {errorOf("trigger_metadata.presets") !== undefined && (
            <span className="field-error">{errorOf("trigger_metadata.presets")}</span>
          )}
        </fieldset>
      )}
      {type !== TriggerType.MentionSpam &&
        tags("allow_list", type === TriggerType.KeywordPreset ? 1000 : 100, 60)}
      {type === TriggerType.MentionSpam && (
        <>
          <NumberField
            label={text("guildSettings.automod.mentions")}
            value={value.mention_total_limit}
            min={0}
            max={50}
            onChange={(limit) => set("mention_total_limit", limit)}
            error={errorOf("trigger_metadata.mention_total_limit")}
          />
          <Switch
            label={text("guildSettings.automod.raids")}
            hint={text("guildSettings.automod.raids.hint")}
            isSelected={value.mention_raid_protection_enabled}
            onChange={(on) => set("mention_raid_protection_enabled", on)}
          />
        </>
      )}
    </>
  );
}

function Actions({
  form,
  type,
  guild,
  canModerate,
}: PartProps & { guild: GuildState; canModerate: boolean }) {
  const text = useText();
  const channels = useChannelOptions(guild.id, TEXT_TYPES);
  const { value, set, errorOf } = form;
  const has = (action: ActionType) => value.actions.includes(action);
  const errorOfAction = (action: ActionType) => errorOf(`actions.${value.actions.indexOf(action)}`);
  const moderates = (action: ActionType) =>
    action === ActionType.Timeout || action === ActionType.BlockMemberInteraction;
  return (
    <>
      <h2>{text("guildSettings.automod.actions")}</h2>
      {TRIGGERS[type].actions.map((action) => (
        <Switch
          key={action}
          label={text(`guildSettings.automod.action.${action}`)}
          hint={moderates(action) && !canModerate ? text("permission.notYours") : undefined}
          isDisabled={moderates(action) && !canModerate && !has(action)}
          isSelected={has(action)}
          onChange={(on) =>
            set(
              "actions",
              on
                ? [...value.actions, action].sort((a, b) => a - b)
                : value.actions.filter((each) => each !== action),
            )
          }
        />
      ))}
      {errorOf("actions") !== undefined && value.actions.length === 0 && (
        <p className="field-error" role="alert">
          {errorOf("actions")}
        </p>
      )}
      {has(ActionType.BlockMessage) && (
        <TextField
          label={text("guildSettings.automod.message")}
          value={value.custom_message}
          maxLength={300}
          onChange={(message) => set("custom_message", message)}
          error={errorOfAction(ActionType.BlockMessage)}
        />
      )}
      {has(ActionType.SendAlertMessage) && (
        <Select
          label={text("guildSettings.automod.alertChannel")}
          value={value.alert_channel_id}
          options={optional(channels, text("guildSettings.chooseOne"))}
          onChange={(id) => set("alert_channel_id", id)}
          error={errorOfAction(ActionType.SendAlertMessage)}
        />
      )}
      {has(ActionType.Timeout) && (
        <Select
          label={text("guildSettings.automod.timeout")}
          value={String(value.timeout_seconds) as (typeof TIMEOUTS)[number]}
          options={TIMEOUTS.map((each) => [each, text(`guildSettings.members.timeout.${each}`)])}
          onChange={(seconds) => set("timeout_seconds", Number(seconds))}
          error={errorOfAction(ActionType.Timeout)}
        />
      )}
    </>
  );
}
