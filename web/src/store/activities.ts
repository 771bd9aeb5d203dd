import { filterEntries, keyBy, withEntry, withoutEntry } from "./records";
import type { State } from "./state";
import type { ActivityInstance } from "./entities";

/** EMBEDDED_ACTIVITY_UPDATE_V2: an instance without participants has ended. */
export function activityUpdate(state: State, instance: ActivityInstance): State {
  const { instance_id: id } = instance;
  const ended = instance.participants.length === 0;
  return {
    ...state,
    activities: ended ? withoutEntry(state.activities, id) : withEntry(state.activities, id, instance),
  };
}

/** The instances of a guild, which GUILD_CREATE lists all. */
export function guildActivities(
  state: State,
  guildId: string,
  instances: readonly ActivityInstance[],
): State["activities"] {
  return {
    ...filterEntries(state.activities, (each) => each.location.guild_id !== guildId),
    ...keyBy(instances, (each) => each.instance_id),
  };
}

/** The instance that this client takes part in; null for none, and once its channel is out of reach. */
export function ownActivity(state: State): ActivityInstance | null {
  const { sessionId } = state;
  const own = Object.values(state.activities).find((instance) =>
    instance.participants.some((each) => each.session_id === sessionId),
  );
  return own !== undefined && own.location.channel_id in state.channels ? own : null;
}

/** Whether an Activity runs in a channel. */
export function isActivityRunning({ activities }: State, channelId: string): boolean {
  for (const id in activities) {
    if (activities[id]?.location.channel_id === channelId) {
      return true;
    }
  }
  return false;
}
