import type { APITemplate } from "discord-api-types/v10";
import { Pencil, Trash2 } from "lucide-react";
import { useState } from "react";

import {
  createTemplate,
  deleteTemplate,
  listTemplates,
  modifyTemplate,
  syncTemplate,
  type TemplateFields,
} from "../../api/guild_settings";
import { useText } from "../../i18n/translate";
import { Button, IconButton } from "../../ui/controls";
import { TextField } from "../../ui/TextField";
import { ErrorNotice } from "../session/ErrorNotice";
import { useSession } from "../session/session";
import { fieldError, useAction } from "../session/useAction";
import { Confirm } from "../session/Confirm";
import { CopyButton } from "./CopyButton";
import { EditDialog } from "./expressions/ExpressionRow";
import { useFormats } from "./formats";
import { Loaded, useGuildQuery } from "./queries";
import type { SectionProps } from "./section";

/** The template of a guild, from which others create guilds with the same roles and channels. */
export default function Templates({ guild }: SectionProps) {
  const text = useText();
  const query = useGuildQuery(guild.id, "templates", listTemplates);
  const [editing, setEditing] = useState<APITemplate | "new" | null>(null);
  return (
    <div className="settings-block">
      <p>{text("guildSettings.templates.hint")}</p>
      <Loaded query={query}>
        {(templates) => (
          <>
            {templates.length === 0 && (
              <div className="settings-bar">
                <Button kind="primary" onPress={() => setEditing("new")}>
                  {text("guildSettings.templates.create")}
                </Button>
              </div>
            )}
            {templates.map((template) => (
              <TemplateCard
                key={template.code}
                template={template}
                onEdit={() => setEditing(template)}
                onChange={() => query.refetch()}
              />
            ))}
          </>
        )}
      </Loaded>
      {editing !== null && (
        <TemplateDialog
          guildId={guild.id}
          template={editing === "new" ? null : editing}
          onClose={() => {
            setEditing(null);
            void query.refetch();
          }}
        />
      )}
    </div>
  );
}

interface TemplateCardProps {
  template: APITemplate;
  onEdit: () => void;
  onChange: () => Promise<unknown>;
}

function TemplateCard({ template, onEdit, onChange }: TemplateCardProps) {
  const text = useText();
  const { api } = useSession();
  const { moment } = useFormats();
  const action = useAction();
  const [deleting, setDeleting] = useState(false);
  const { name, code, source_guild_id: guildId } = template;
  const sync = async () => {
    await syncTemplate(api, guildId, code);
    await onChange();
  };
  return (
    <section className="settings-card" aria-label={name}>
      <div className="settings-card-header">
        <h3>{name}</h3>
        <span className="settings-row-actions">
          <IconButton label={text("guildSettings.edit", { name })} onPress={onEdit}>
            <Pencil size={18} />
          </IconButton>
          <IconButton label={text("guildSettings.deleteNamed", { name })} onPress={() => setDeleting(true)}>
            <Trash2 size={18} />
          </IconButton>
        </span>
      </div>
      {template.description && <p>{template.description}</p>}
      <p className="settings-count">
        {text("guildSettings.templates.used", { count: template.usage_count })} ·{" "}
        {text("guildSettings.templates.synced", { date: moment(template.updated_at) })}
      </p>
      {template.is_dirty === true && <p className="notice">{text("guildSettings.templates.dirty")}</p>}
      <ErrorNotice error={action.error} />
      <div className="settings-bar">
        <CopyButton
          label={text("guildSettings.templates.copy")}
          value={`${location.origin}/template/${code}`}
        />
        <Button isDisabled={action.pending} onPress={() => void action.run(sync)}>
          {text("guildSettings.templates.sync")}
        </Button>
      </div>
      {deleting && (
        <Confirm
          title={text("guildSettings.deleteNamed", { name })}
          question={text("guildSettings.templates.delete.question")}
          confirm={text("common.delete")}
          onConfirm={async () => {
            await deleteTemplate(api, guildId, code);
            await onChange();
          }}
          onClose={() => setDeleting(false)}
        />
      )}
    </section>
  );
}

interface TemplateDialogProps {
  guildId: string;
  /** Null for a new one. */
  template: APITemplate | null;
  onClose: () => void;
}

function TemplateDialog({ guildId, template, onClose }: TemplateDialogProps) {
  const text = useText();
  const { api } = useSession();
  const [name, setName] = useState(template?.name ?? "");
  const [description, setDescription] = useState(template?.description ?? "");
  const save = () => {
    const fields: TemplateFields = { name, description: description === "" ? null : description };
    return template === null
      ? createTemplate(api, guildId, fields)
      : modifyTemplate(api, guildId, template.code, fields);
  };
  return (
    <EditDialog
      title={template?.name ?? text("guildSettings.templates.create")}
      shown={["name", "description"]}
      onSave={save}
      onClose={onClose}
    >
      {(error) => (
        <>
          <TextField
            label={text("guildSettings.templates.name")}
            value={name}
            onChange={setName}
            isRequired
            autoFocus
            maxLength={100}
            error={fieldError(error, "name")}
          />
          <TextField
            label={text("guildSettings.overview.description")}
            value={description}
            onChange={setDescription}
            multiline
            maxLength={120}
            error={fieldError(error, "description")}
          />
        </>
      )}
    </EditDialog>
  );
}
