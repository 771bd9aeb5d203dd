import { useQueryClient } from "@tanstack/react-query";
import { ArrowDown, ArrowUp, Plus, Trash2 } from "lucide-react";

import {
  getScreening,
  modifyScreening,
  type ScreeningField,
  type ScreeningFieldType,
  type ScreeningForm as Form,
} from "../../../api/guild_settings";
import { useText } from "../../../i18n/translate";
import type { GuildState } from "../../../store/state";
import { Button, IconButton } from "../../../ui/controls";
import { TextField } from "../../../ui/TextField";
import { Menu, MenuItem } from "../../../ui/Menu";
import { Switch, TagsField } from "../../../ui/fields";
import { useSession } from "../../session/session";
import { moved, withElement, withoutElement } from "../changes";
import { FormFrame } from "../Form";
import { Loaded, useGuildQuery } from "../queries";
import type { SectionProps } from "../section";
import { useForm } from "../../session/useForm";

const FIELDS_MAX = 5;
const TYPES: readonly ScreeningFieldType[] = ["TERMS", "TEXT_INPUT", "PARAGRAPH", "MULTIPLE_CHOICE"];

/** What people agree to and answer before they can write. */
export default function Screening({ guild }: SectionProps) {
  const query = useGuildQuery(guild.id, "screening", getScreening);
  return <Loaded query={query}>{(form) => <ScreeningEditor guild={guild} saved={form} />}</Loaded>;
}

function ScreeningEditor({ guild, saved }: { guild: GuildState; saved: Form }) {
  const text = useText();
  const { api, account } = useSession();
  const client = useQueryClient();
  const initial = {
    enabled: guild.features.includes("MEMBER_VERIFICATION_GATE_ENABLED"),
    description: saved.description,
    form_fields: saved.form_fields,
  };
  const form = useForm(initial, async (changes) => {
    const changed = await modifyScreening(api, guild.id, changes);
    client.setQueryData([account.userId, "guild", guild.id, "screening"], changed);
  });
  const { value, set, errorOf } = form;
  const fields = value.form_fields;
  const types = TYPES.filter(
    (type) => type !== "TERMS" || !fields.some((field) => field.field_type === "TERMS"),
  );
  return (
    <FormFrame form={form} shown={["description", "form_fields"]}>
      <Switch
        label={text("guildSettings.screening.enabled")}
        hint={text("guildSettings.screening.hint")}
        isSelected={value.enabled}
        onChange={(enabled) => set("enabled", enabled)}
      />
      <TextField
        label={text("guildSettings.screening.description")}
        value={value.description ?? ""}
        maxLength={300}
        multiline
        onChange={(description) => set("description", description === "" ? null : description)}
        error={errorOf("description")}
      />
      {fields.map((field, index) => (
        <fieldset key={index} className="settings-card">
          <div className="settings-card-header">
            <legend>
              <strong>
                {index + 1}. {text(`guildSettings.screening.type.${field.field_type}`)}
              </strong>
            </legend>
            <span className="settings-row-actions">
              <IconButton
                label={text("guildSettings.moveUp", { name: index + 1 })}
                isDisabled={index === 0}
                onPress={() => set("form_fields", moved(fields, index, index - 1))}
              >
                <ArrowUp size={18} />
              </IconButton>
              <IconButton
                label={text("guildSettings.moveDown", { name: index + 1 })}
                isDisabled={index === fields.length - 1}
                onPress={() => set("form_fields", moved(fields, index, index + 1))}
              >
                <ArrowDown size={18} />
              </IconButton>
              <IconButton
                label={text("guildSettings.deleteNamed", { name: index + 1 })}
                onPress={() => set("form_fields", withoutElement(fields, index))}
              >
                <Trash2 size={18} />
              </IconButton>
            </span>
          </div>
          <FieldEditor
            field={field}
            onChange={(changed) => set("form_fields", withElement(fields, index, changed))}
            errorOf={(name) => errorOf(`form_fields.${index}.${name}`)}
          />
        </fieldset>
      ))}
      {fields.length < FIELDS_MAX && (
        <Menu
          label={text("guildSettings.screening.add")}
          trigger={
            <Button>
              <Plus size={16} aria-hidden="true" /> {text("guildSettings.screening.add")}
            </Button>
          }
        >
          {types.map((type) => (
            <MenuItem
              key={type}
              onAction={() =>
                set("form_fields", [...fields, newField(type, text("guildSettings.screening.readRules"))])
              }
            >
              {text(`guildSettings.screening.type.${type}`)}
            </MenuItem>
          ))}
        </Menu>
      )}
    </FormFrame>
  );
}

function newField(type: ScreeningFieldType, termsLabel: string): ScreeningField {
  return {
    field_type: type,
    label: type === "TERMS" ? termsLabel : "",
    required: true,
    ...(type === "TERMS" && { values: [] }),
    ...(type === "MULTIPLE_CHOICE" && { choices: [] }),
  };
}

interface FieldEditorProps {
  field: ScreeningField;
  onChange: (field: ScreeningField) => void;
  errorOf: (name: string) => string | undefined;
}

function FieldEditor({ field, onChange, errorOf }: FieldEditorProps) {
  const text = useText();
  const isText = field.field_type === "TEXT_INPUT" || field.field_type === "PARAGRAPH";
  return (
    <>
      <TextField
        label={text("guildSettings.screening.label")}
        value={field.label}
        isRequired
        maxLength={300}
        onChange={(label) => onChange({ ...field, label })}
        error={errorOf("label")}
      />
      {field.field_type === "TERMS" && (
        <TagsField
          label={text("guildSettings.screening.rules")}
          value={field.values ?? []}
          max={16}
          maxLength={300}
          hasCommas
          onChange={(values) => onChange({ ...field, values })}
          error={errorOf("values")}
        />
      )}
      {field.field_type === "MULTIPLE_CHOICE" && (
        <TagsField
          label={text("guildSettings.screening.choices")}
          value={field.choices ?? []}
          max={8}
          maxLength={150}
          hasCommas
          onChange={(choices) => onChange({ ...field, choices })}
          error={errorOf("choices")}
        />
      )}
      {isText && (
        <TextField
          label={text("guildSettings.screening.placeholder")}
          value={field.placeholder ?? ""}
          maxLength={150}
          onChange={(placeholder) =>
            onChange({ ...field, placeholder: placeholder === "" ? null : placeholder })
          }
          error={errorOf("placeholder")}
        />
      )}
      {field.field_type !== "TERMS" && (
        <Switch
          label={text("guildSettings.screening.required")}
          isSelected={field.required}
          onChange={(required) => onChange({ ...field, required })}
        />
      )}
    </>
  );
}
