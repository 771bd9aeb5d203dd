/** An event that a link leads to. */
export interface EventLink {
  guildId: string;
  eventId: string;
}

const MAX_LINKS = 3;

export function eventUrl(event: { guild_id: string; id: string }): string {
  return `${location.origin}/events/${event.guild_id}/${event.id}`;
}

/** The events that a text links to on this server, each once. */
export function eventLinks(content: string, origin: string): EventLink[] {
  if (!content.includes("/events/")) {
    return [];
  }
  const links = new Map<string, EventLink>();
  for (const [start, guildId = "", eventId = ""] of content.matchAll(
    /https?:\/\/[^\s<>/]+\/events\/(\d{1,20})\/(\d{1,20})(?!\d)/g,
  )) {
    if (start.startsWith(`${origin}/`)) {
      links.set(eventId, { guildId, eventId });
    }
  }
  return [...links.values()].slice(0, MAX_LINKS);
}
