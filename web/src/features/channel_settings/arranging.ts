/** Moving channels within the list of a guild: the order is what the sidebar shows. */
import { modifyChannelPositions } from "../../api/channels";
import { visibleChannelGroups } from "../../store/selectors";
import type { Session } from "../session/session";
import { moveByOne, moveChannel, orderOf, positionChanges, type Order } from "./ordering";

function orderIn({ store }: Session, guildId: string): Order {
  return orderOf(visibleChannelGroups(store.state, guildId));
}

/** Give a guild's channels an order; returns whether anything changes by it. */
async function arrange({ api }: Session, guildId: string, order: Order): Promise<boolean> {
  const changes = positionChanges(order);
  if (changes.length === 0) {
    return false;
  }
  await modifyChannelPositions(api, guildId, changes);
  return true;
}

/** Move a channel or category by one place. Returns whether it moved. */
export function moveInList(
  session: Session,
  guildId: string,
  channelId: string,
  direction: -1 | 1,
): Promise<boolean> {
  const order = orderIn(session, guildId);
  const moved = moveByOne(order, channelId, direction);
  return moved === order ? Promise.resolve(false) : arrange(session, guildId, moved);
}

/** Move a channel or category beside another one. Returns whether it moved. */
export function moveBeside(
  session: Session,
  guildId: string,
  channelId: string,
  targetId: string,
  side: "before" | "after",
): Promise<boolean> {
  const order = orderIn(session, guildId);
  const moved = moveChannel(order, channelId, targetId, side);
  return moved === order ? Promise.resolve(false) : arrange(session, guildId, moved);
}
