import { useText } from "../../i18n/translate";
import { useAppState } from "../session/session";

/** How many unread messages of some channels mention the user; nothing for none. */
export function Mentions({ channelIds }: { channelIds: readonly string[] }) {
  const text = useText();
  const count = useAppState((state) =>
    channelIds.reduce((sum, id) => sum + (state.readStates[id]?.mentions ?? 0), 0),
  );
  return count === 0 ? null : (
    <span className="mentions" role="img" aria-label={text("channel.mentions", { count })}>
      {count > 99 ? "99+" : count}
    </span>
  );
}
