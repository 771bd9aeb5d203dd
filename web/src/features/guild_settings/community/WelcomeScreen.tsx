import { useQueryClient } from "@tanstack/react-query";
import type { APIGuildWelcomeScreen, APIGuildWelcomeScreenChannel } from "discord-api-types/v10";
import { Plus, Trash2 } from "lucide-react";

import type { ApiClient } from "../../../api/client";
import { ApiError } from "../../../api/errors";
import { getWelcomeScreen, modifyWelcomeScreen } from "../../../api/guild_settings";
import { useText } from "../../../i18n/translate";
import type { GuildState } from "../../../store/state";
import { Button, IconButton } from "../../../ui/controls";
import { TextField } from "../../../ui/TextField";
import { Switch } from "../../../ui/fields";
import { Select } from "../../../ui/Select";
import { useSession } from "../../session/session";
import { withElement, withoutElement } from "../changes";
import { FormFrame } from "../Form";
import { choices, OPEN_TYPES, useChannelOptions } from "../options";
import { Loaded, useGuildQuery } from "../queries";
import type { SectionProps } from "../section";
import { useForm } from "../../session/useForm";
import { EmojiField } from "./EmojiField";

const CHANNELS_MAX = 5;
const UNKNOWN_WELCOME_SCREEN = 10_069;

/** A guild that never had a welcome screen answers that there is none. */
async function readWelcomeScreen(api: ApiClient, guildId: string): Promise<APIGuildWelcomeScreen> {
  try {
    return await getWelcomeScreen(api, guildId);
  } catch (error) {
    if (error instanceof ApiError && error.code === UNKNOWN_WELCOME_SCREEN) {
      return { description: null, welcome_channels: [] };
    }
    throw error;
  }
}

/** What new members see first: a greeting and a few channels. */
export default function WelcomeScreen({ guild }: SectionProps) {
  const query = useGuildQuery(guild.id, "welcome screen", readWelcomeScreen);
  return <Loaded query={query}>{(screen) => <WelcomeForm guild={guild} screen={screen} />}</Loaded>;
}

function WelcomeForm({ guild, screen }: { guild: GuildState; screen: APIGuildWelcomeScreen }) {
  const text = useText();
  const { api, account } = useSession();
  const client = useQueryClient();
  const initial = {
    enabled: guild.features.includes("WELCOME_SCREEN_ENABLED"),
    description: screen.description,
    welcome_channels: screen.welcome_channels,
  };
  const form = useForm(initial, async (changes) => {
    const changed = await modifyWelcomeScreen(api, guild.id, changes);
    client.setQueryData([account.userId, "guild", guild.id, "welcome screen"], changed);
  });
  const { value, set, errorOf } = form;
  const channels = useChannelOptions(guild.id, OPEN_TYPES);
  const unused = channels.filter(({ id }) => !value.welcome_channels.some((each) => each.channel_id === id));
  const change = (index: number, channel: APIGuildWelcomeScreenChannel) =>
    set("welcome_channels", withElement(value.welcome_channels, index, channel));
  const add = () =>
    set("welcome_channels", [
      ...value.welcome_channels,
      { channel_id: unused[0]?.id ?? "", description: "", emoji_id: null, emoji_name: null },
    ]);
  return (
    <FormFrame form={form} shown={["description", "welcome_channels"]}>
      <Switch
        label={text("guildSettings.welcome.enabled")}
        hint={text("guildSettings.welcome.hint")}
        isSelected={value.enabled}
        onChange={(enabled) => set("enabled", enabled)}
      />
      <TextField
        label={text("guildSettings.welcome.greeting")}
        value={value.description ?? ""}
        maxLength={140}
        multiline
        onChange={(description) => set("description", description === "" ? null : description)}
        error={errorOf("description")}
      />
      {value.welcome_channels.map((channel, index) => (
        <fieldset key={index} className="settings-card">
          <div className="settings-card-header">
            <legend>
              <strong>{text("guildSettings.welcome.channel", { number: index + 1 })}</strong>
            </legend>
            <IconButton
              label={text("field.picker.remove", {
                name: text("guildSettings.welcome.channel", { number: index + 1 }),
              })}
              onPress={() => set("welcome_channels", withoutElement(value.welcome_channels, index))}
            >
              <Trash2 size={18} />
            </IconButton>
          </div>
          <div className="settings-columns">
            <Select
              label={text("guildSettings.webhooks.channel")}
              value={channel.channel_id}
              options={choices(channels)}
              onChange={(id) => change(index, { ...channel, channel_id: id })}
              error={errorOf(`welcome_channels.${index}.channel_id`)}
            />
            <TextField
              label={text("guildSettings.welcome.reason")}
              value={channel.description}
              maxLength={50}
              isRequired
              onChange={(description) => change(index, { ...channel, description })}
              error={errorOf(`welcome_channels.${index}.description`)}
            />
          </div>
          <EmojiField
            guild={guild}
            value={{ id: channel.emoji_id, name: channel.emoji_name }}
            onChange={({ id, name }) => change(index, { ...channel, emoji_id: id, emoji_name: name })}
            error={
              errorOf(`welcome_channels.${index}.emoji_id`) ?? errorOf(`welcome_channels.${index}.emoji_name`)
            }
          />
        </fieldset>
      ))}
      {value.welcome_channels.length < CHANNELS_MAX && unused.length > 0 && (
        <Button onPress={add}>
          <Plus size={16} aria-hidden="true" /> {text("guildSettings.welcome.add")}
        </Button>
      )}
    </FormFrame>
  );
}
