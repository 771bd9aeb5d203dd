import type { APIGuild } from "discord-api-types/v10";

import { ChannelType, OverwriteType, Permission } from "../../api/enums";
import { createChannel } from "../../api/guilds";
import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { Select } from "../../ui/Select";
import { ErrorNotice } from "../session/ErrorNotice";
import { useSession } from "../session/session";
import { useAction } from "../session/useAction";
import type { SettingsForm } from "../session/useForm";
import { optional, useChannelOptions } from "./options";

type Fields = Pick<APIGuild, "rules_channel_id" | "public_updates_channel_id">;

const CHANNELS = [
  ["rules_channel_id", "guildSettings.overview.rulesChannel"],
  ["public_updates_channel_id", "guildSettings.overview.updatesChannel"],
] as const;

/**
 * The two channels without which a guild cannot be a community, beside the switch that needs them: to be chosen, or
 * made at once. The form sets them when it is saved.
 */
export function CommunityChannels<T extends Fields>({
  guildId,
  form,
}: {
  guildId: string;
  form: SettingsForm<T>;
}) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const { value, set, errorOf } = form;
  const options = useChannelOptions(guildId, [ChannelType.GuildText]);
  const missing = CHANNELS.filter(([field]) => value[field] === null);
  const make = async () => {
    for (const [field] of missing) {
      const isRules = field === "rules_channel_id";
      const channel = await createChannel(api, guildId, {
        name: text(isRules ? "guildSettings.community.rules" : "guildSettings.community.updates"),
        type: ChannelType.GuildText,
        permission_overwrites: [
          {
            id: guildId,
            type: OverwriteType.Role,
            allow: "0",
            deny: String(isRules ? Permission.SendMessages : Permission.ViewChannel),
          },
        ],
      });
      set(field, channel.id as T[typeof field]);
    }
  };
  return (
    <div className="notice stack">
      <p>{text("guildSettings.community.needs")}</p>
      <div className="settings-columns">
        {CHANNELS.map(([field, label]) => (
          <Select
            key={field}
            label={text(label)}
            value={value[field] ?? ""}
            options={optional(options, text("guildSettings.noneChosen"))}
            onChange={(id) => set(field, (id === "" ? null : id) as T[typeof field])}
            error={errorOf(field)}
          />
        ))}
      </div>
      {missing.length > 0 && (
        <div className="stack">
          <p className="field-hint">{text("guildSettings.community.make.hint")}</p>
          <Button isDisabled={action.pending} onPress={() => void action.run(make)}>
            {text("guildSettings.community.make", { count: missing.length })}
          </Button>
        </div>
      )}
      <ErrorNotice error={action.error} />
    </div>
  );
}
