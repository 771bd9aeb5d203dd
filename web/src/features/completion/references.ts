/** A name in the text of the composer, and what is sent in its place. */
export interface Reference {
  /** Such as `@ada`, `#general` or `:wave:`. */
  text: string;
  /** Such as `<@1>`, `<#2>` or `<:wave:3>`. */
  markup: string;
}

/** Names what a mention or a custom emoji refers to, without `@`, `#` or colons; null if it is unknown. */
export type Naming = (kind: "user" | "role" | "channel", id: string) => string | null;

/** Add a reference whose text no other one has: a second channel of a name gets a number. */
export function addReference(
  references: readonly Reference[],
  added: Reference,
): { references: readonly Reference[]; text: string } {
  const existing = references.find((each) => each.markup === added.markup);
  if (existing !== undefined) {
    return { references, text: existing.text };
  }
  const end = added.text.endsWith(":") && added.text.length > 1 ? ":" : "";
  const stem = end === "" ? added.text : added.text.slice(0, -1);
  let { text } = added;
  for (let number = 2; references.some((each) => each.text === text); number += 1) {
    text = `${stem}~${number}${end}`;
  }
  return { references: [...references, { text, markup: added.markup }], text };
}

/** The text as it is sent: each reference as its markup, except as a part of a longer word. */
export function toMarkup(text: string, references: readonly Reference[]): string {
  if (references.length === 0) {
    return text;
  }
  const markups = new Map(references.map((each) => [each.text, each.markup]));
  const longestFirst = [...markups.keys()].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(
    longestFirst
      .map((each) => escapeRegExp(each) + (each.endsWith(":") ? "" : "(?![\\p{L}\\p{N}_~])"))
      .join("|"),
    "gu",
  );
  return text.replace(pattern, (match) => markups.get(match) ?? match);
}

/** The text of a message as it is edited: mentions and custom emojis by name. */
export function fromMarkup(
  content: string,
  naming: Naming,
): { text: string; references: readonly Reference[] } {
  let references: readonly Reference[] = [];
  const name = (markup: string, text: string | null): string => {
    if (text === null) {
      return markup;
    }
    const added = addReference(references, { text, markup });
    references = added.references;
    return added.text;
  };
  const text = content.replace(
    /<@!?(\d{1,20})>|<@&(\d{1,20})>|<#(\d{1,20})>|<a?:(\w{1,32}):\d{1,20}>/g,
    (markup, user?: string, role?: string, channel?: string, emoji?: string) => {
      if (emoji !== undefined) {
        return name(markup, `:${emoji}:`);
      }
      if (channel !== undefined) {
        return name(markup, prefixed("#", naming("channel", channel)));
      }
      const mentioned = role === undefined ? naming("user", user ?? "") : naming("role", role);
      return name(markup, prefixed("@", mentioned));
    },
  );
  return { text, references };
}

function prefixed(prefix: string, name: string | null): string | null {
  return name === null || name === "" ? null : prefix + name;
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
