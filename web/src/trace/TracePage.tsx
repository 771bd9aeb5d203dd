import { useEffect, useEffectEvent, useLayoutEffect, useMemo, useState } from "react";

import { SessionContext } from "../features/session/session";
import { isPrivate } from "../store/channels";
import { channelName } from "../store/selectors";
import type { State } from "../store/state";
import { Button } from "../ui/controls";
import { Select } from "../ui/Select";
import { Channel } from "./Channel";
import { channelOf, type Entry, type Recording, type View } from "./recording";
import { Replay } from "./replay";
import { recordedSession } from "./session";
import { Wire } from "./Wire";

/** A test, step by step: the channel as a person sees it, and the wire beside it. */
export function TracePage({ recording }: { recording: Recording }) {
  const { title, outcome, entries, views } = recording;
  const [at, setAt] = useState(() => Math.max(0, entries.length - 1));
  const [viewer, setViewer] = useState(() => views[0]?.name ?? "");
  const [chosenId, setChosenId] = useState<string | null>(null);
  const view = views.find((each) => each.name === viewer);
  const entry = entries[at];
  const go = (index: number) => {
    setAt(Math.min(Math.max(index, 0), entries.length - 1));
    setChosenId(null);
  };
  useArrows((step) => go(at + step));
  return (
    <main className="trace">
      <header className="trace-header">
        <h1>
          <span className={`trace-outcome trace-outcome-${outcome}`}>{outcome}</span> {title}
        </h1>
        <span className="trace-steps">
          <Button onPress={() => go(at - 1)} isDisabled={at <= 0}>
            Back
          </Button>
          <output>{entries.length === 0 ? "Nothing happened" : `Step ${at + 1} of ${entries.length}`}</output>
          <Button onPress={() => go(at + 1)} isDisabled={at >= entries.length - 1}>
            Next
          </Button>
        </span>
      </header>
      {entry !== undefined && view !== undefined && (
        <Seen
          key={view.name}
          view={view}
          entries={entries}
          entry={entry}
          channelId={chosenId ?? lastChannel(entries, at)}
          people={views.map(({ name }) => name)}
          onViewer={setViewer}
          onChannel={setChosenId}
        />
      )}
      <Wire entries={entries} at={at} onChoose={go} />
    </main>
  );
}

/** The channel of an entry, or of the last one before it that is about some. */
function lastChannel(entries: readonly Entry[], at: number): string | null {
  return (
    entries
      .slice(0, at + 1)
      .map(channelOf)
      .findLast((id) => id !== null) ?? null
  );
}

/** The arrow keys go from step to step, where nothing else has the use of them. */
function useArrows(move: (step: number) => void): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const target = event.target instanceof Element ? event.target : null;
    if (
      step === undefined ||
      event.defaultPrevented ||
      target?.closest("[role=log], pre, [role=listbox], [role=dialog], input, textarea")
    ) {
      return;
    }
    event.preventDefault();
    move(step);
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKey(event);
    document.addEventListener("keydown", listener);
    return () => document.removeEventListener("keydown", listener);
  }, []);
}

interface SeenProps {
  view: View;
  entries: readonly Entry[];
  entry: Entry;
  channelId: string | null;
  people: readonly string[];
  onViewer: (name: string) => void;
  onChannel: (id: string) => void;
}

/** What one of the people sees at a moment. */
function Seen({ view, entries, entry, channelId, people, onViewer, onChannel }: SeenProps) {
  const [session] = useState(() => recordedSession(view.user_id));
  const [now] = useState(() => Date.now());
  const replay = useMemo(() => new Replay(view, entries), [view, entries]);
  const state = useMemo(() => replay.stateAt(entry, now), [replay, entry, now]);
  useLayoutEffect(() => session.store.update(() => state), [session, state]);
  const channels = channelChoices(state);
  const known = channels.some(([id]) => id === channelId);
  return (
    <section className="trace-seen" aria-label="Channel">
      <div className="trace-choices">
        <Select
          label="As seen by"
          value={view.name}
          options={people.map((name) => [name, name] as const)}
          onChange={onViewer}
        />
        <Select
          label="Channel"
          value={known ? (channelId ?? "") : ""}
          options={known ? channels : [["", "–"], ...channels]}
          onChange={(id) => id !== "" && onChannel(id)}
        />
      </div>
      <SessionContext value={session}>
        <Channel channelId={channelId} viewer={view.name} />
      </SessionContext>
    </section>
  );
}

/** The channels that a person knows of, by name. */
function channelChoices(state: State): (readonly [string, string])[] {
  return Object.values(state.channels).map((channel) => [
    channel.id,
    isPrivate(channel) ? `@${channelName(state, channel)}` : `#${channelName(state, channel)}`,
  ]);
}
