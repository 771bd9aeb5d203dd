import { visibleChannelGroups, type ChannelGroup } from "./selectors";
import { ChannelOverrideFlags, GuildSettingsFlags } from "./settings";
import type { State } from "./state";

/** All channels of a guild that the user may view, whether or not they are in their list. */
export const channelGroupsOf = visibleChannelGroups;

/** The channels of the list: all, or those that the user has chosen and those with messages that mention them. */
export function chosenChannels(
  state: State,
  guildId: string,
  groups: readonly ChannelGroup[],
): ChannelGroup[] {
  const settings = state.guildSettings[guildId];
  if (settings === undefined || (settings.flags & GuildSettingsFlags.OptInChannelsOn) === 0) {
    return [...groups];
  }
  const chosen = new Set(
    settings.channel_overrides
      .filter((override) => (override.flags & ChannelOverrideFlags.OptInEnabled) !== 0)
      .map((override) => override.channel_id),
  );
  return groups
    .map((group) => ({
      ...group,
      channels: group.channels.filter(
        (channel) =>
          chosen.has(channel.id) ||
          (group.category !== null && chosen.has(group.category.id)) ||
          (state.readStates[channel.id]?.mentions ?? 0) > 0,
      ),
    }))
    .filter((group) => group.channels.length > 0);
}
