import { useQueryClient } from "@tanstack/react-query";
import type { APIGuildOnboarding } from "discord-api-types/v10";
import { ArrowDown, ArrowUp, Plus, Trash2 } from "lucide-react";

import { getOnboarding, modifyOnboarding } from "../../../api/guild_settings";
import { useText } from "../../../i18n/translate";
import type { GuildState } from "../../../store/state";
import { Button, IconButton } from "../../../ui/controls";
import { TextField } from "../../../ui/TextField";
import { Switch } from "../../../ui/fields";
import { Picker } from "../../../ui/Picker";
import { Select } from "../../../ui/Select";
import { useSession } from "../../session/session";
import { roleOptions } from "../../members/roleOptions";
import { moved, withElement, withoutElement } from "../changes";
import { FormFrame } from "../Form";
import { OPEN_TYPES, useChannelOptions } from "../options";
import { Loaded, useGuildQuery } from "../queries";
import type { SectionProps } from "../section";
import { useForm } from "../../session/useForm";
import { EmojiField } from "./EmojiField";
import { newOption, newPrompt, promptsOf, toPromptBodies, type Option, type Prompt } from "./prompts";

const PROMPTS_MAX = 15;
const OPTIONS_MAX = 50;

/** What new members are asked, and the roles and channels that their answers give them. */
export default function Onboarding({ guild }: SectionProps) {
  const query = useGuildQuery(guild.id, "onboarding", getOnboarding);
  return <Loaded query={query}>{(saved) => <OnboardingForm guild={guild} saved={saved} />}</Loaded>;
}

function OnboardingForm({ guild, saved }: { guild: GuildState; saved: APIGuildOnboarding }) {
  const text = useText();
  const { api, account } = useSession();
  const client = useQueryClient();
  const initial = {
    enabled: saved.enabled,
    mode: saved.mode as number,
    default_channel_ids: saved.default_channel_ids as readonly string[],
    prompts: promptsOf(saved) as readonly Prompt[],
  };
  const form = useForm(initial, async ({ prompts, ...changes }) => {
    const changed = await modifyOnboarding(api, guild.id, {
      ...changes,
      ...(prompts !== undefined && { prompts: toPromptBodies(prompts) }),
    });
    client.setQueryData([account.userId, "guild", guild.id, "onboarding"], changed);
  });
  const { value, set, errorOf } = form;
  const channels = useChannelOptions(guild.id, OPEN_TYPES);
  return (
    <FormFrame form={form} shown={["default_channel_ids", "prompts", "mode"]}>
      <Switch
        label={text("guildSettings.onboarding.enabled")}
        hint={text("guildSettings.onboarding.hint")}
        isSelected={value.enabled}
        onChange={(enabled) => set("enabled", enabled)}
      />
      <Picker
        label={text("guildSettings.onboarding.defaults")}
        hint={text("guildSettings.onboarding.defaults.hint")}
        options={channels}
        value={value.default_channel_ids}
        onChange={(ids) => set("default_channel_ids", ids)}
        error={errorOf("default_channel_ids")}
      />
      <Select
        label={text("guildSettings.onboarding.mode")}
        value={String(value.mode)}
        options={[
          ["0", text("guildSettings.onboarding.mode.0")],
          ["1", text("guildSettings.onboarding.mode.1")],
        ]}
        onChange={(mode) => set("mode", Number(mode))}
        error={errorOf("mode")}
      />
      <h2>{text("guildSettings.onboarding.questions")}</h2>
      {value.prompts.map((prompt, index) => (
        <fieldset key={index} className="settings-card">
          <div className="settings-card-header">
            <legend>
              <strong>{text("guildSettings.onboarding.question", { number: index + 1 })}</strong>
            </legend>
            <span className="settings-row-actions">
              <IconButton
                label={text("guildSettings.moveUp", { name: index + 1 })}
                isDisabled={index === 0}
                onPress={() => set("prompts", moved(value.prompts, index, index - 1))}
              >
                <ArrowUp size={18} />
              </IconButton>
              <IconButton
                label={text("guildSettings.moveDown", { name: index + 1 })}
                isDisabled={index === value.prompts.length - 1}
                onPress={() => set("prompts", moved(value.prompts, index, index + 1))}
              >
                <ArrowDown size={18} />
              </IconButton>
              <IconButton
                label={text("guildSettings.deleteNamed", {
                  name: text("guildSettings.onboarding.question", { number: index + 1 }),
                })}
                onPress={() => set("prompts", withoutElement(value.prompts, index))}
              >
                <Trash2 size={18} />
              </IconButton>
            </span>
          </div>
          <PromptEditor
            guild={guild}
            prompt={prompt}
            onChange={(changed) => set("prompts", withElement(value.prompts, index, changed))}
            errorOf={(path) => errorOf(`prompts.${index}.${path}`)}
          />
        </fieldset>
      ))}
      {value.prompts.length < PROMPTS_MAX && (
        <Button onPress={() => set("prompts", [...value.prompts, newPrompt()])}>
          <Plus size={16} aria-hidden="true" /> {text("guildSettings.onboarding.addQuestion")}
        </Button>
      )}
    </FormFrame>
  );
}

interface PromptEditorProps {
  guild: GuildState;
  prompt: Prompt;
  onChange: (prompt: Prompt) => void;
  errorOf: (path: string) => string | undefined;
}

function PromptEditor({ guild, prompt, onChange, errorOf }: PromptEditorProps) {
  const text = useText();
  const flags = [
    ["single_select", "guildSettings.onboarding.single"],
    ["required", "guildSettings.onboarding.required"],
    ["in_onboarding", "guildSettings.onboarding.atStart"],
  ] as const;
  return (
    <>
      <div className="settings-columns">
        <TextField
          label={text("guildSettings.onboarding.title")}
          value={prompt.title}
          isRequired
          maxLength={100}
          onChange={(title) => onChange({ ...prompt, title })}
          error={errorOf("title")}
        />
        <Select
          label={text("guildSettings.onboarding.type")}
          value={String(prompt.type)}
          options={[
            ["0", text("guildSettings.onboarding.type.0")],
            ["1", text("guildSettings.onboarding.type.1")],
          ]}
          onChange={(type) => onChange({ ...prompt, type: Number(type) })}
          error={errorOf("type")}
        />
      </div>
      {flags.map(([field, label]) => (
        <Switch
          key={field}
          label={text(label)}
          isSelected={prompt[field]}
          onChange={(on) => onChange({ ...prompt, [field]: on })}
        />
      ))}
      {prompt.options.map((option, index) => (
        <OptionEditor
          key={index}
          guild={guild}
          option={option}
          number={index + 1}
          onChange={(changed) =>
            onChange({ ...prompt, options: withElement(prompt.options, index, changed) })
          }
          onRemove={
            prompt.options.length === 1
              ? null
              : () => onChange({ ...prompt, options: withoutElement(prompt.options, index) })
          }
          errorOf={(path) => errorOf(`options.${index}.${path}`)}
        />
      ))}
      {prompt.options.length < OPTIONS_MAX && (
        <Button onPress={() => onChange({ ...prompt, options: [...prompt.options, newOption()] })}>
          <Plus size={16} aria-hidden="true" /> {text("guildSettings.onboarding.addAnswer")}
        </Button>
      )}
    </>
  );
}

interface OptionEditorProps {
  guild: GuildState;
  option: Option;
  number: number;
  onChange: (option: Option) => void;
  /** Null for the only answer of a question. */
  onRemove: (() => void) | null;
  errorOf: (path: string) => string | undefined;
}

function OptionEditor({ guild, option, number, onChange, onRemove, errorOf }: OptionEditorProps) {
  const text = useText();
  const channels = useChannelOptions(guild.id, OPEN_TYPES);
  return (
    <fieldset className="settings-card settings-card-inner">
      <div className="settings-card-header">
        <legend>{text("guildSettings.onboarding.answer", { number })}</legend>
        {onRemove !== null && (
          <IconButton
            label={text("guildSettings.deleteNamed", {
              name: text("guildSettings.onboarding.answer", { number }),
            })}
            onPress={onRemove}
          >
            <Trash2 size={18} />
          </IconButton>
        )}
      </div>
      <div className="settings-columns">
        <TextField
          label={text("guildSettings.onboarding.answerTitle")}
          value={option.title}
          isRequired
          maxLength={50}
          onChange={(title) => onChange({ ...option, title })}
          error={errorOf("title")}
        />
        <TextField
          label={text("guildSettings.onboarding.answerHint")}
          value={option.description}
          maxLength={100}
          onChange={(description) => onChange({ ...option, description })}
          error={errorOf("description")}
        />
      </div>
      <EmojiField
        guild={guild}
        value={option.emoji}
        onChange={(emoji) => onChange({ ...option, emoji })}
        error={errorOf("emoji_id") ?? errorOf("emoji_name")}
      />
      <div className="settings-columns">
        <Picker
          label={text("guildSettings.onboarding.gives")}
          options={roleOptions(guild)}
          value={option.role_ids}
          max={50}
          onChange={(ids) => onChange({ ...option, role_ids: ids })}
          error={errorOf("role_ids")}
        />
        <Picker
          label={text("guildSettings.onboarding.shows")}
          options={channels}
          value={option.channel_ids}
          max={50}
          onChange={(ids) => onChange({ ...option, channel_ids: ids })}
          error={errorOf("channel_ids")}
        />
      </div>
    </fieldset>
  );
}
