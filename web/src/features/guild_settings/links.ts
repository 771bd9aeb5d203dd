/** Where a section of a guild's settings is, or an item within it. */
export function settingsLink(guildId: string, sectionId?: string, itemId?: string) {
  return {
    to: "/app/guilds/$guildId/settings/{-$sectionId}/{-$itemId}",
    params: { guildId, sectionId, itemId },
  } as const;
}
