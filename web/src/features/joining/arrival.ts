const JOIN = "moothall.join";
const ARRIVED = "moothall.arrived.";

/** Accept this invite once the user has logged in. */
export function rememberInvite(code: string): void {
  sessionStorage.setItem(JOIN, code);
}

/** Whether the user wanted to accept this invite before they logged in; says so once. */
export function takeRememberedInvite(code: string): boolean {
  const matches = sessionStorage.getItem(JOIN) === code;
  if (matches) {
    sessionStorage.removeItem(JOIN);
  }
  return matches;
}

/** Note that the user has just joined a guild, which then greets them. */
export function noteArrival(guildId: string): void {
  sessionStorage.setItem(ARRIVED + guildId, "1");
}

export function hasJustArrived(guildId: string): boolean {
  return sessionStorage.getItem(ARRIVED + guildId) !== null;
}

export function endArrival(guildId: string): void {
  sessionStorage.removeItem(ARRIVED + guildId);
}

/** What a link to join or make a guild leads to; a bare code is that of an invite. Null for no link or code. */
export function readLink(link: string): { kind: "invite" | "template"; code: string } | null {
  const [path = ""] = link.trim().split(/[?#]/);
  const parts = path.split("/").filter((part) => part !== "");
  const code = parts.at(-1) ?? "";
  const kind = parts.at(-2) === "template" ? "template" : "invite";
  return /^[\w-]{1,64}$/.test(code) ? { kind, code } : null;
}

type Known = "unknown" | "some" | "none";

/**
 * Whether a new member has met all that there was for them when they came. From then on they are a member like all:
 * questions and welcomes that are switched on later are for those who come later.
 */
export function isArrivalOver(met: { isPending: boolean; questions: Known; welcome: Known }): boolean {
  return !met.isPending && met.questions === "none" && met.welcome === "none";
}
