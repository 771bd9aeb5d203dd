import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Form } from "react-aria-components";

import { createGuild } from "../../api/guilds";
import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { TextField } from "../../ui/TextField";
import { ImageField } from "../../ui/fields";
import { readLink } from "../joining/arrival";
import { ErrorNotice } from "../session/ErrorNotice";
import { useSession } from "../session/session";
import { fieldError, useAction } from "../session/useAction";

/** Creates a guild, or leads to the page of an invite. */
export function AddGuild({ onDone }: { onDone: () => void }) {
  const text = useText();
  const { api, store } = useSession();
  const navigate = useNavigate();
  const action = useAction();
  const [name, setName] = useState("");
  const [icon, setIcon] = useState<string | null>(null);
  const [link, setLink] = useState("");
  const target = readLink(link);
  const create = async () => {
    const guild = await createGuild(api, name.trim(), icon ?? undefined);
    await store.waitFor((state) => guild.id in state.guilds);
    onDone();
    await navigate({ to: "/channels/$guildId", params: { guildId: guild.id } });
  };
  const openLink = async () => {
    if (target !== null) {
      onDone();
      const to = target.kind === "template" ? "/app/template/$code" : "/app/invite/$code";
      await navigate({ to, params: { code: target.code } });
    }
  };
  return (
    <>
      <Form
        className="stack"
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
          autoFocus
          error={fieldError(action.error, "name")}
        />
        <ImageField
          label={text("guild.create.icon")}
          shape="round"
          url={icon}
          onChange={setIcon}
          error={fieldError(action.error, "icon")}
        />
        <ErrorNotice error={action.error} shown={["name"]} />
        <Button type="submit" kind="primary" isDisabled={action.pending || name.trim() === ""}>
          {text("guild.create.submit")}
        </Button>
      </Form>
      <hr />
      <Form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void openLink();
        }}
      >
        <TextField
          label={text("guild.join.link")}
          hint={text("guild.join.hint")}
          value={link}
          onChange={setLink}
        />
        <Button type="submit" isDisabled={target === null}>
          {text("guild.join")}
        </Button>
      </Form>
    </>
  );
}
