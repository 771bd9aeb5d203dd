/** The ids of the guilds that an event takes from an account; `before` are those that it was in. */
export function lostIds(name: string, data: unknown, before: readonly string[]): readonly string[] {
  if (name === "GUILD_DELETE") {
    const { id, unavailable } = data as { id: string; unavailable?: boolean };
    return unavailable !== true && before.includes(id) ? [id] : [];
  }
  if (name === "READY") {
    const after = new Set((data as { guilds: readonly { id: string }[] }).guilds.map(({ id }) => id));
    return before.filter((id) => !after.has(id));
  }
  return [];
}
