import type { APIChannel, APIGuildScheduledEvent } from "discord-api-types/v10";

import { ChannelType, Permission } from "../../api/enums";
import { guildIdOf, isVoice } from "../../store/channels";
import { channelPermissions, guildPermissions, has } from "../../store/permissions";
import { compareIds } from "../../store/records";
import type { State } from "../../store/state";

const STAGE_MODERATOR = Permission.ManageChannels | Permission.MuteMembers | Permission.MoveMembers;

/** The channels in which the user may create events. */
export function eventChannels(state: State, guildId: string): APIChannel[] {
  return Object.values(state.channels)
    .filter((channel) => guildIdOf(channel) === guildId && isVoice(channel))
    .filter((channel) => has(permissionsIn(state, channel), neededIn(channel) | Permission.CreateEvents))
    .sort((a, b) => positionOf(a) - positionOf(b) || compareIds(a.id, b.id));
}

/** Whether the user may create events outside of channels. */
export function mayCreateElsewhere(state: State, guildId: string): boolean {
  return has(guildPermissions(state, guildId, state.user?.id ?? ""), Permission.CreateEvents);
}

export function mayCreateEvents(state: State, guildId: string): boolean {
  return mayCreateElsewhere(state, guildId) || eventChannels(state, guildId).length > 0;
}

/** Whether the user may change, start, end and cancel an event: its creator, and those who manage events. */
export function mayManageEvent(state: State, event: APIGuildScheduledEvent): boolean {
  const userId = state.user?.id ?? "";
  const channel = state.channels[event.channel_id ?? ""];
  const permissions =
    channel === undefined ? guildPermissions(state, event.guild_id, userId) : permissionsIn(state, channel);
  const sufficient =
    has(permissions, Permission.ManageEvents) ||
    (event.creator_id === userId && has(permissions, Permission.CreateEvents));
  return sufficient && (channel === undefined || has(permissions, neededIn(channel)));
}

function permissionsIn(state: State, channel: APIChannel): bigint {
  return channelPermissions(state, channel, state.user?.id ?? "");
}

function neededIn(channel: APIChannel): bigint {
  return (
    Permission.ViewChannel |
    (channel.type === ChannelType.GuildStageVoice ? STAGE_MODERATOR : Permission.Connect)
  );
}

function positionOf(channel: APIChannel): number {
  return "position" in channel ? channel.position : 0;
}
