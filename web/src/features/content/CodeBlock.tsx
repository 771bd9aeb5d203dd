import hljs from "highlight.js/lib/common";
import { useMemo, type ReactNode } from "react";

/** Longer code is shown without colours: highlighting it would block the page. */
const MAX_HIGHLIGHTED = 8_000;
/** Colours within deeper ones are left out: some languages nest without end. */
const MAX_DEPTH = 16;

/** Code with syntax colours; loaded when the first one is shown. */
export default function CodeBlock({ language, text }: { language: string; text: string }) {
  const colored = useMemo(() => {
    if (hljs.getLanguage(language) === undefined || text.length > MAX_HIGHLIGHTED) {
      return text;
    }
    try {
      return fromHtml(hljs.highlight(text, { language, ignoreIllegals: true }).value);
    } catch {
      return text;
    }
  }, [language, text]);
  return (
    // Long lines scroll sideways, with the keyboard as well.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre tabIndex={0}>
      <code>{colored}</code>
    </pre>
  );
}

/**
 * highlight.js returns HTML of `<span class="...">` and escaped text alone. It is turned into elements here, so that no
 * HTML is ever put into the page.
 */
export function fromHtml(html: string): ReactNode[] {
  const root: ReactNode[] = [];
  const stack: { className: string; children: ReactNode[] }[] = [];
  let tooDeep = 0;
  for (const [, className, close, text] of html.matchAll(/<span class="([^"]*)">|(<\/span>)|([^<]+)/g)) {
    const target = stack.at(-1)?.children ?? root;
    if (className !== undefined && stack.length >= MAX_DEPTH) {
      tooDeep += 1;
    } else if (className !== undefined) {
      stack.push({ className, children: [] });
    } else if (close !== undefined && tooDeep > 0) {
      tooDeep -= 1;
    } else if (close !== undefined) {
      const span = stack.pop();
      if (span !== undefined) {
        const parent = stack.at(-1)?.children ?? root;
        parent.push(
          <span key={parent.length} className={span.className}>
            {span.children}
          </span>,
        );
      }
    } else if (text !== undefined) {
      target.push(unescape(text));
    }
  }
  return root;
}

function unescape(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#x27;", "'")
    .replaceAll("&amp;", "&");
}
