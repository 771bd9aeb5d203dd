import { useMemo, type ReactNode } from "react";

import { ChannelType } from "../../api/enums";
import { compareIds } from "../../store/records";
import { guildIdOf } from "../../store/channels";
import { channelName } from "../../store/selectors";
import type { State } from "../../store/state";
import type { PickerOption } from "../../ui/Picker";
import { ChannelIcon } from "../channels/ChannelIcon";
import { useDerived } from "../session/session";

/** The channels of a guild of some types, by position, for a list to choose from. */
export function useChannelOptions(guildId: string, types: readonly ChannelType[]): PickerOption[] {
  const channels = useDerived((state) => channelsOf(state, guildId, types));
  return useMemo(
    () =>
      channels.map(({ id, name, type }) =>
        // The sign of text channels is part of how people write their names; the others have pictures.
        TEXT_TYPES.includes(type)
          ? { id, name: `#${name}` }
          : { id, name, icon: <ChannelIcon type={type} /> },
      ),
    [channels],
  );
}

function channelsOf(state: State, guildId: string, types: readonly ChannelType[]) {
  return Object.values(state.channels)
    .filter((channel) => guildIdOf(channel) === guildId && types.includes(channel.type))
    .sort(
      (a, b) =>
        ("position" in a ? a.position : 0) - ("position" in b ? b.position : 0) || compareIds(a.id, b.id),
    )
    .map((channel) => ({ id: channel.id, type: channel.type, name: channelName(state, channel) }));
}

/** Options as a `Select` takes them. */
export function choices(options: readonly PickerOption[]): (readonly [string, string, ReactNode?])[] {
  return options.map(({ id, name, icon }) => [id, name, icon] as const);
}

/** Options with a first one for none, for a `Select`. */
export function optional(
  options: readonly PickerOption[],
  none: string,
): (readonly [string, string, ReactNode?])[] {
  return [["", none], ...choices(options)];
}

/** Channels that hold messages. */
export const TEXT_TYPES: readonly ChannelType[] = [ChannelType.GuildText, ChannelType.GuildAnnouncement];

/** Channels that members can open. */
export const OPEN_TYPES: readonly ChannelType[] = [
  ...TEXT_TYPES,
  ChannelType.GuildVoice,
  ChannelType.GuildStageVoice,
  ChannelType.GuildForum,
  ChannelType.GuildMedia,
];
