import { useEffect, useRef } from "react";

import { whatOf, type Entry } from "./recording";

interface WireProps {
  entries: readonly Entry[];
  /** The index of the entry whose moment is shown. */
  at: number;
  onChoose: (index: number) => void;
}

/** The transcript: every request, event and warning, of which one is open with its data. */
export function Wire({ entries, at, onChoose }: WireProps) {
  const current = useRef<HTMLLIElement>(null);
  useEffect(() => {
    current.current?.scrollIntoView({ block: "nearest" });
  }, [at]);
  return (
    <ol className="trace-wire" aria-label="Wire">
      {entries.map((entry, index) => (
        <li
          key={entry.number}
          ref={index === at ? current : null}
          {...(index > at && { className: "trace-later" })}
        >
          <button
            type="button"
            className={`trace-line trace-${entry.kind}`}
            {...(index === at && { "aria-current": "step" })}
            onClick={() => onChoose(index)}
          >
            <time dateTime={entry.at}>{entry.at.slice(11, 23)}</time>
            <span className="trace-kind">{entry.kind}</span>
            <span className="trace-what">{whatOf(entry)}</span>
          </button>
          {index === at && <Details entry={entry} />}
        </li>
      ))}
    </ol>
  );
}

/** What was sent and answered, the data of an event, the traceback of an error. */
function Details({ entry }: { entry: Entry }) {
  const parts = [
    ["sent", entry.sent],
    [entry.kind === "request" ? "answer" : "data", entry.data],
    ["traceback", entry.kind === "error" ? entry.text : undefined],
  ] as const;
  return parts
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => (
      <figure key={name} className="trace-data">
        <figcaption>{name}</figcaption>
        {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrolled with the keyboard */}
        <pre tabIndex={0}>{typeof value === "string" ? value : JSON.stringify(value, null, 2)}</pre>
      </figure>
    ));
}
