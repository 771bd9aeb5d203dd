import { Permission, type PermissionName } from "../../api/enums";

export type PermissionGroup = "general" | "membership" | "text" | "apps" | "voice" | "stage" | "events";

/** Every permission by what it is about, in the order in which they are shown. */
export const PERMISSION_GROUPS: Readonly<Record<PermissionGroup, readonly PermissionName[]>> = {
  general: [
    "Administrator",
    "ViewChannel",
    "ManageChannels",
    "ManageRoles",
    "ManageGuild",
    "ViewAuditLog",
    "ViewGuildInsights",
    "ManageWebhooks",
    "CreateGuildExpressions",
    "ManageGuildExpressions",
    "ViewCreatorMonetizationAnalytics",
  ],
  membership: [
    "CreateInstantInvite",
    "ChangeNickname",
    "ManageNicknames",
    "KickMembers",
    "BanMembers",
    "ModerateMembers",
  ],
  text: [
    "SendMessages",
    "SendMessagesInThreads",
    "CreatePublicThreads",
    "CreatePrivateThreads",
    "EmbedLinks",
    "AttachFiles",
    "AddReactions",
    "UseExternalEmojis",
    "UseExternalStickers",
    "MentionEveryone",
    "ManageMessages",
    "PinMessages",
    "BypassSlowmode",
    "ManageThreads",
    "ReadMessageHistory",
    "SendTTSMessages",
    "SendVoiceMessages",
    "SendPolls",
  ],
  apps: ["UseApplicationCommands", "UseEmbeddedActivities", "UseExternalApps"],
  voice: [
    "Connect",
    "Speak",
    "Stream",
    "UseSoundboard",
    "UseExternalSounds",
    "UseVAD",
    "PrioritySpeaker",
    "MuteMembers",
    "DeafenMembers",
    "MoveMembers",
    "SetVoiceChannelStatus",
  ],
  stage: ["RequestToSpeak"],
  events: ["CreateEvents", "ManageEvents"],
};

/** Permissions that let their holder harm the guild or its members. */
const DANGEROUS: ReadonlySet<PermissionName> = new Set([
  "Administrator",
  "ManageChannels",
  "ManageRoles",
  "ManageGuild",
  "ManageWebhooks",
  "ManageGuildExpressions",
  "KickMembers",
  "BanMembers",
  "ModerateMembers",
  "MentionEveryone",
  "ManageMessages",
  "ManageThreads",
] as const);

export function isDangerous(name: PermissionName): boolean {
  return DANGEROUS.has(name);
}

export interface PermissionTexts {
  name: PermissionName;
  title: string;
  hint: string;
}

/** The groups with those of their permissions that are `shown` and match a search; empty groups are left out. */
export function searchPermissions(
  shown: bigint,
  query: string,
  texts: (name: PermissionName) => Omit<PermissionTexts, "name">,
): [PermissionGroup, PermissionTexts[]][] {
  const words = query.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const groups: [PermissionGroup, PermissionTexts[]][] = [];
  for (const [group, names] of Object.entries(PERMISSION_GROUPS)) {
    const matching = names
      .filter((name) => (shown & Permission[name]) !== 0n)
      .map((name) => ({ name, ...texts(name) }))
      .filter(({ title, hint }) => {
        const text = `${title} ${hint}`.toLocaleLowerCase();
        return words.every((word) => text.includes(word));
      });
    if (matching.length > 0) {
      groups.push([group as PermissionGroup, matching]);
    }
  }
  return groups;
}

/** Add permissions to a set, or remove them. */
export function withPermission(permissions: bigint, flag: bigint, on: boolean): bigint {
  return on ? permissions | flag : permissions & ~flag;
}
