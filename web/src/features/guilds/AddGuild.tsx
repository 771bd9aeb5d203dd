import { useNavigate } from "@tanstack/react-router";
import {
  Building2,
  GitBranch,
  GraduationCap,
  Heart,
  SquareDashed,
  Trophy,
  type LucideIcon,
} from "lucide-react";
import { useState } from "react";
import { Form, Label, Radio, RadioGroup } from "react-aria-components";

import { createGuild } from "../../api/guilds";
import type { MessageId, Part } from "../../i18n/messages";
import { useText, WithTexts } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { TextField } from "../../ui/TextField";
import { ImageField } from "../../ui/fields";
import type { Hue } from "../../ui/hues";
import { readLink } from "../joining/arrival";
import { ErrorNotice } from "../session/ErrorNotice";
import { useSession } from "../session/session";
import { fieldError, useAction } from "../session/useAction";
import { partsOf, type Kind } from "./kinds";
import "./beginning.css";

const PARTS: readonly Part[] = ["beginning"];

/** What a new guild may be for; "" begins with one text and one voice channel. */
const CHOICES: readonly (readonly ["" | Kind, MessageId, LucideIcon, Hue])[] = [
  ["", "kind.empty", SquareDashed, "violet"],
  ["friends", "kind.friends", Heart, "pink"],
  ["club", "kind.club", Trophy, "ember"],
  ["company", "kind.company", Building2, "blue"],
  ["project", "kind.project", GitBranch, "green"],
  ["class", "kind.class", GraduationCap, "teal"],
];

/** Creates a guild, or leads to the page of an invite. */
export function AddGuild(props: AddGuildProps) {
  return (
    <WithTexts parts={PARTS}>
      <NewGuild {...props} />
    </WithTexts>
  );
}

interface AddGuildProps {
  onDone: () => void;
}

/** What a new guild is for. */
export function KindField({ value, onChange }: { value: "" | Kind; onChange: (kind: "" | Kind) => void }) {
  const text = useText();
  return (
    <RadioGroup className="kinds" value={value} onChange={(chosen) => onChange(chosen as "" | Kind)}>
      <Label className="field-label">{text("kind.label")}</Label>
      {CHOICES.map(([kind, id, Icon, hue]) => (
        <Radio key={kind} value={kind} className="kind" data-hue={hue}>
          <Icon size={18} aria-hidden="true" />
          {text(id)}
        </Radio>
      ))}
    </RadioGroup>
  );
}

function NewGuild({ onDone }: AddGuildProps) {
  const text = useText();
  const { api, store } = useSession();
  const navigate = useNavigate();
  const action = useAction();
  const [name, setName] = useState("");
  const [kind, setKind] = useState<"" | Kind>("");
  const [icon, setIcon] = useState<string | null>(null);
  const [link, setLink] = useState("");
  const target = readLink(link);
  const create = async () => {
    const guild = await createGuild(api, {
      name: name.trim(),
      ...(icon !== null && { icon }),
      ...(kind !== "" && partsOf(kind, text)),
    });
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
        <KindField value={kind} onChange={setKind} />
        <ImageField
          label={text("guild.create.icon")}
          shape="round"
          crops
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
