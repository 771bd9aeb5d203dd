import type { APIEmbed } from "discord-api-types/v10";

/** The fields of an embed by name, as the embeds of the server's own messages carry their data. */
export function fieldsOf(embed: APIEmbed | undefined): Partial<Record<string, string>> {
  return Object.fromEntries((embed?.fields ?? []).map(({ name, value }) => [name, value]));
}
