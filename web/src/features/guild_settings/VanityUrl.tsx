import { getVanityUrl, modifyVanityUrl, type VanityUrl as Vanity } from "../../api/guild_settings";
import { useText } from "../../i18n/translate";
import type { GuildState } from "../../store/state";
import { TextField } from "../../ui/TextField";
import { useSession } from "../session/session";
import { CopyButton } from "./CopyButton";
import { FormFrame } from "./Form";
import { Loaded, useGuildQuery } from "./queries";
import type { SectionProps } from "./section";
import { useForm } from "../session/useForm";

/** The invite whose code the guild chooses itself. */
export default function VanityUrl({ guild }: SectionProps) {
  const query = useGuildQuery(guild.id, "vanity url", getVanityUrl);
  return (
    <Loaded query={query}>
      {(vanity) => <VanityForm guild={guild} vanity={vanity} onChange={() => query.refetch()} />}
    </Loaded>
  );
}

interface VanityFormProps {
  guild: GuildState;
  vanity: Vanity;
  onChange: () => Promise<unknown>;
}

function VanityForm({ guild, vanity, onChange }: VanityFormProps) {
  const text = useText();
  const { api } = useSession();
  const hasFeature = guild.features.includes("VANITY_URL");
  const form = useForm({ code: vanity.code ?? "" }, async (_changes, { code }) => {
    await modifyVanityUrl(api, guild.id, code === "" ? null : code);
    await onChange();
  });
  return (
    <FormFrame form={form} shown={["code"]}>
      <p>{text("guildSettings.vanity.hint")}</p>
      {!hasFeature && <p className="notice">{text("guildSettings.feature")}</p>}
      <TextField
        label={text("guildSettings.vanity.code")}
        hint={`${location.origin}/invite/${form.value.code}`}
        value={form.value.code}
        maxLength={25}
        isDisabled={!hasFeature && vanity.code === null}
        onChange={(code) => form.set("code", code)}
        error={form.errorOf("code")}
      />
      {vanity.code !== null && (
        <div className="settings-bar">
          <span className="settings-count">{text("guildSettings.invites.uses", { count: vanity.uses })}</span>
          <CopyButton label={text("common.copy")} value={`${location.origin}/invite/${vanity.code}`} />
        </div>
      )}
    </FormFrame>
  );
}
