import { useEffect, useState } from "react";

import { Translate } from "../../i18n/translate";
import { displayName } from "../../store/selectors";
import { useAppState, useDerived } from "../session/session";

const MAX_NAMES = 3;
const NO_TYPING: Readonly<Record<string, number>> = {};

/** Who else is typing in a channel. */
export function Typing({ channelId, guildId }: { channelId: string; guildId: string | null }) {
  const typing = useAppState((state) => state.typing[channelId] ?? NO_TYPING);
  const [now, setNow] = useState(() => Date.now());
  const names = useDerived((state) =>
    Object.keys(typing)
      .filter((id) => (typing[id] ?? 0) > now && id !== state.user?.id)
      .map((id) => {
        const user = state.users[id];
        return user === undefined ? id : displayName(state, user, guildId);
      }),
  );
  const anyone = Object.keys(typing).length > 0;
  useEffect(() => {
    if (!anyone) {
      return undefined;
    }
    // eslint-disable-next-line react-hooks/set-state-in-effect -- the indicator begins with the event
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [anyone, typing]);
  return (
    <p className="typing" aria-live="polite">
      {names.length > MAX_NAMES ? (
        <Translate id="typing.many" />
      ) : (
        names.length > 0 && (
          <Translate id="typing.names" values={{ count: names.length, names: names.join(", ") }} />
        )
      )}
    </p>
  );
}
