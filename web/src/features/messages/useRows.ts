import { useCallback, useMemo, useState } from "react";

import { RelationshipType } from "../../store/relationships";
import { useAppState } from "../session/session";
import { collapseBlocked } from "./blocked";
import { buildRows, type Row } from "./rows";

/** The rows of a channel, with the messages of blocked users folded, and what unfolds or folds some of them. */
export function useRows(channelId: string, firstNewId: string | null): [Row[], (key: string) => void] {
  const list = useAppState((state) => state.messages[channelId]);
  const pending = useAppState((state) => state.pending);
  const selfId = useAppState((state) => state.user?.id);
  const relationships = useAppState((state) => state.relationships);
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(new Set());
  // Scrolling renders at each frame, mostly the same rows.
  const rows = useMemo(
    () =>
      collapseBlocked(
        buildRows(list, pending, channelId, firstNewId, selfId),
        (userId) => relationships[userId]?.type === RelationshipType.Blocked,
        expanded,
      ),
    [list, pending, channelId, firstNewId, selfId, relationships, expanded],
  );
  const toggle = useCallback((key: string) => {
    setExpanded((before) => {
      const after = new Set(before);
      if (!after.delete(key)) {
        after.add(key);
      }
      return after;
    });
  }, []);
  return [rows, toggle];
}
