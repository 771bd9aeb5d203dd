import type { LinkProps } from "@tanstack/react-router";

/** Where a section of a channel's settings is; without an id, the list of sections. */
export function channelSettingsLink(
  guildId: string,
  channelId: string,
  sectionId: string | undefined,
): LinkProps {
  return {
    to: "/app/guilds/$guildId/channels/$channelId/{-$sectionId}",
    params: { guildId, channelId, sectionId },
  };
}
