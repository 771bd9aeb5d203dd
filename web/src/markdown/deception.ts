import { withoutInvisible } from "./invisible";

/** Characters that look like those that addresses are made of. */
const LOOKALIKES: readonly [RegExp, string][] = [
  [
    /[\u00b7\u0387\u0589\u06d4\u0701\u0702\u2022\u2027\u2219\u22c5\u3002\u30fb\ua4f8\ufe12\uff61\uff65]/g,
    ".",
  ],
  [/[\u2044\u2215\u2571\u27cb\u29f8\u3033\u30ce\u4e3f]/g, "/"],
  [/[\u02d0\u02f8\u0703\u0704\u05c3\u2236\u2982\ua789\ufe13\ufe30]/g, ":"],
];
/** Endings of file names that are no top-level domains. */
const FILE_ENDINGS = new Set(
  "js jsx ts tsx mjs css html htm json txt pdf png jpg jpeg gif webp svg yml yaml toml xml csv log ini cfg cpp hpp exe doc docx xls xlsx".split(
    " ",
  ),
);
/** After these endings a space does not hide that a label is an address; other sentences have a space after a dot. */
const SPACED_ENDING = /\. (?=(?:com|org|net|gg|io|dev|app|edu|gov|co|de|uk|ru|example)\b)/gi;

/**
 * Whether a link's label would mislead about where the link leads: it is empty, or has an address that is not that of
 * the link. Addresses count however they are written: with other scripts' letters, full-width or spaced.
 */
export function isDeceptive(label: string, url: string): boolean {
  const readable = readableText(label);
  if (readable.trim() === "") {
    return true;
  }
  const target = new URL(url);
  return addressesIn(readable).some((address) => !isSameAddress(address, target));
}

function readableText(label: string): string {
  let text = withoutInvisible(label.normalize("NFKC")).toLowerCase();
  for (const [pattern, char] of LOOKALIKES) {
    text = text.replaceAll(pattern, char);
  }
  return text
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ ?: ?\/ ?\/ ?/g, "://")
    .replaceAll(/(?<=[\p{L}\p{N}]) \. ?(?=[\p{L}\p{N}])/gu, ".")
    .replaceAll(SPACED_ENDING, ".");
}

/** The words of a text that look like an address. */
function addressesIn(text: string): string[] {
  return text.split(/[\s"'<>(){}|,;]+/).flatMap((word) => {
    const trimmed = withoutEdges(word);
    const scheme = trimmed.lastIndexOf("://");
    if (scheme >= 0) {
      const start = /[a-z0-9+-]*$/.exec(trimmed.slice(Math.max(0, scheme - 16), scheme))?.[0].length ?? 0;
      return [start === 0 ? `https${trimmed.slice(scheme)}` : trimmed.slice(scheme - start)];
    }
    return isHost((trimmed.split(/[/?#\\:]/, 1)[0] ?? "").split("@").at(-1) ?? "")
      ? [`https://${trimmed}`]
      : [];
  });
}

/** A word without the punctuation around it. */
function withoutEdges(word: string): string {
  let start = 0;
  let end = word.length;
  while (start < end && /[^\p{L}\p{N}[]/u.test(word[start] ?? "")) {
    start += 1;
  }
  while (end > start && /[^\p{L}\p{M}\p{N}/\]]/u.test(word[end - 1] ?? "")) {
    end -= 1;
  }
  return word.slice(start, end);
}

function isHost(host: string): boolean {
  const labels = host.split(".");
  const last = labels.at(-1) ?? "";
  if (labels.length < 2 || labels.some((each) => each === "")) {
    return false;
  }
  if (labels.length === 4 && labels.every((each) => /^\d{1,3}$/.test(each))) {
    return true;
  }
  const isEnding = /^(?:\p{L}[\p{L}\p{M}]+|xn--[a-z0-9-]+)$/u.test(last);
  return isEnding && !FILE_ENDINGS.has(last) && labels.every((each) => /^[\p{L}\p{M}\p{N}_-]+$/u.test(each));
}

/** Whether an address is that of a link, or the beginning of it that names its host. */
function isSameAddress(address: string, target: URL): boolean {
  if (target.protocol === "mailto:") {
    return address === `https://${target.pathname.toLowerCase()}`;
  }
  const parsed = URL.canParse(address) ? new URL(address) : null;
  const isWeb = parsed?.protocol === "https:" || parsed?.protocol === "http:";
  if (
    parsed === null ||
    !isWeb ||
    parsed.username !== "" ||
    withoutWww(parsed.host) !== withoutWww(target.host)
  ) {
    return false;
  }
  const written = decoded(parsed.pathname + parsed.search);
  const path = written.endsWith("...") ? written.slice(0, -3) : written;
  return (
    path === "/" ||
    decoded(target.pathname + target.search)
      .toLowerCase()
      .startsWith(path)
  );
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function withoutWww(host: string): string {
  return host.replace(/^www\./, "");
}
