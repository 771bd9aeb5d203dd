import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { APITemplate } from "discord-api-types/v10";
import { useState } from "react";
import { Form } from "react-aria-components";

import { ApiClient } from "../../api/client";
import { ChannelType } from "../../api/enums";
import { createGuildFromTemplate, getTemplate } from "../../api/joining";
import type { Part } from "../../i18n/messages";
import { Translate, useText, WithTexts } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { TextField } from "../../ui/TextField";
import { ImageField } from "../../ui/fields";
import { ChannelIcon } from "../channels/ChannelIcon";
import { ErrorNotice } from "../session/ErrorNotice";
import { Queries } from "../session/queries";
import { useOptionalSession, type Session } from "../session/session";
import { fieldError, useAction } from "../session/useAction";
import { LogInFirst } from "../invites/InvitePage";
import "../joining/joining.css";

const PARTS: readonly Part[] = ["joining"];
const ANONYMOUS = new ApiClient(null);

/** Shows what a guild made from a template has, and makes one. */
export default function TemplatePage({ code }: { code: string }) {
  return (
    <WithTexts parts={PARTS}>
      <Queries>
        <Template code={code} />
      </Queries>
    </WithTexts>
  );
}

function Template({ code }: { code: string }) {
  const text = useText();
  const session = useOptionalSession();
  const api = session?.api ?? ANONYMOUS;
  const template = useQuery({
    queryKey: ["template", code],
    queryFn: () => getTemplate(api, code),
    retry: false,
  });
  if (template.isPending) {
    return (
      <main id="main" className="page" aria-busy="true">
        <Translate id="app.loading" />
      </main>
    );
  }
  const { data } = template;
  if (data === undefined) {
    return (
      <main id="main" className="page">
        <p role="alert" className="notice">
          {text("joining.template.unknown")}
        </p>
      </main>
    );
  }
  return (
    <main id="main" className="page">
      <div className="invite-card template-card">
        <p className="field-hint">{text("joining.template")}</p>
        <h1>{data.name}</h1>
        {data.description !== null && <p>{data.description}</p>}
        <Contents template={data} />
        {session === null ? (
          <LogInFirst path={`/template/${code}`}>{text("joining.template.logIn")}</LogInFirst>
        ) : (
          <CreateForm session={session} template={data} />
        )}
      </div>
    </main>
  );
}

function Contents({ template }: { template: APITemplate }) {
  const text = useText();
  const source = template.serialized_source_guild;
  const channels = source.channels ?? [];
  const roles = (source.roles ?? []).filter((role) => role.id !== 0).map((role) => role.name);
  return (
    <div className="template-contents">
      <h2>{text("joining.template.channels")}</h2>
      <ul>
        {channels.map((channel) => {
          const type = channel.type ?? ChannelType.GuildText;
          return (
            <li
              key={String(channel.id)}
              className={type === ChannelType.GuildCategory ? "template-category" : ""}
            >
              {type !== ChannelType.GuildCategory && <ChannelIcon type={type} />} {channel.name}
            </li>
          );
        })}
      </ul>
      {roles.length > 0 && (
        <>
          <h2>{text("joining.template.roles")}</h2>
          <p>{roles.join(", ")}</p>
        </>
      )}
    </div>
  );
}

function CreateForm({ session, template }: { session: Session; template: APITemplate }) {
  const text = useText();
  const navigate = useNavigate();
  const action = useAction();
  const [name, setName] = useState(template.serialized_source_guild.name);
  const [icon, setIcon] = useState<string | null>(null);
  const create = async () => {
    const guild = await createGuildFromTemplate(session.api, template.code, {
      name: name.trim(),
      ...(icon !== null && { icon }),
    });
    await session.store.waitFor((state) => guild.id in state.guilds);
    await navigate({ to: "/channels/$guildId", params: { guildId: guild.id } });
  };
  return (
    <Form
      className="stack join-form"
      validationBehavior="aria"
      onSubmit={(event) => {
        event.preventDefault();
        void action.run(create);
      }}
    >
      <TextField
        label={text("guild.create.name")}
        value={name}
        onChange={setName}
        isRequired
        error={fieldError(action.error, "name")}
      />
      <ImageField label={text("guild.create.icon")} shape="round" crops url={icon} onChange={setIcon} />
      <ErrorNotice error={action.error} shown={["name"]} />
      <Button type="submit" kind="primary" isDisabled={action.pending || name.trim() === ""}>
        {text("guild.create.submit")}
      </Button>
    </Form>
  );
}
