import { useNavigate } from "@tanstack/react-router";

import { createGuild } from "../../api/guilds";
import { useText } from "../../i18n/translate";
import { TextField } from "../../ui/TextField";
import { KindField } from "../guilds/AddGuild";
import { partsOf, type Kind } from "../guilds/kinds";
import { useSession } from "../session/session";
import { fieldError, useAction } from "../session/useAction";
import { useDraft } from "./draft";
import { valueOf, type StepProps } from "./settings";
import { StepForm } from "./StepForm";

/** The first server, begun as what it is for. */
export default function GuildStep({ settings, onDone }: StepProps) {
  const text = useText();
  const { api, store } = useSession();
  const navigate = useNavigate();
  const action = useAction();
  const draft = useDraft<{ name: string; kind: "" | Kind }>("guild", {
    name: valueOf(settings, "instance_name", ""),
    kind: "",
  });
  const { name, kind } = draft.value;
  const submit = async () => {
    const guild = await createGuild(api, {
      name: name.trim(),
      ...(kind !== "" && partsOf(kind, text)),
    });
    draft.clear();
    await store.waitFor((state) => guild.id in state.guilds);
    await navigate({ to: "/channels/$guildId", params: { guildId: guild.id } });
  };
  return (
    <StepForm
      about={text("setup.guild.about")}
      action={action}
      isDirty={draft.isDirty}
      shown={["name"]}
      onSave={submit}
      onSkip={onDone}
      submit={text("guild.create.submit")}
      isDisabled={name.trim() === ""}
    >
      <TextField
        label={text("guild.create.name")}
        value={name}
        onChange={(typed) => draft.set("name", typed)}
        isRequired
        error={fieldError(action.error, "name")}
      />
      <KindField value={kind} onChange={(chosen) => draft.set("kind", chosen)} />
    </StepForm>
  );
}
