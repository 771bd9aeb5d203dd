import type { ComponentType } from "react";

import { Permission } from "../../api/enums";
import type { MessageId } from "../../i18n/messages";
import { has } from "../../store/permissions";
import { loaded, type LoadedComponent } from "../../ui/loaded";
import type { SectionProps } from "./section";

export interface Section {
  id: string;
  title: MessageId;
  /** One of these lets a member see the section. */
  needs: readonly bigint[];
  View: LoadedComponent<SectionProps>;
}

export interface SectionGroup {
  title: MessageId;
  sections: readonly Section[];
}

const P = Permission;

const EXPRESSIONS = [P.CreateGuildExpressions, P.ManageGuildExpressions];

function section(
  id: string,
  title: MessageId,
  needs: readonly bigint[],
  load: () => Promise<{ default: ComponentType<SectionProps> }>,
): Section {
  return { id, title, needs, View: loaded(load) };
}

/** Every section of the settings of a guild, in the order of the list. */
export const SECTION_GROUPS: readonly SectionGroup[] = [
  {
    title: "guildSettings.group.guild",
    sections: [
      section("overview", "guildSettings.overview", [P.ManageGuild], () => import("./Overview")),
      section("discovery", "guildSettings.discovery", [P.ManageGuild], () => import("./Discovery")),
      section("roles", "guildSettings.roles", [P.ManageRoles], () => import("./roles/Roles")),
    ],
  },
  {
    title: "guildSettings.group.expressions",
    sections: [
      section("emojis", "guildSettings.emojis", EXPRESSIONS, () => import("./expressions/Emojis")),
      section("stickers", "guildSettings.stickers", EXPRESSIONS, () => import("./expressions/Stickers")),
      section("sounds", "guildSettings.sounds", EXPRESSIONS, () => import("./expressions/Sounds")),
    ],
  },
  {
    title: "guildSettings.group.people",
    sections: [
      section(
        "members",
        "guildSettings.members",
        [P.KickMembers, P.BanMembers, P.ModerateMembers, P.ManageNicknames, P.ManageRoles],
        () => import("./members/Members"),
      ),
      section("invites", "guildSettings.invites", [P.ManageGuild, P.ViewAuditLog], () => import("./Invites")),
      section("bans", "guildSettings.bans", [P.BanMembers], () => import("./members/Bans")),
    ],
  },
  {
    title: "guildSettings.group.apps",
    sections: [
      section("integrations", "guildSettings.integrations", [P.ManageGuild], () => import("./Integrations")),
      section("webhooks", "guildSettings.webhooks", [P.ManageWebhooks], () => import("./webhooks/Webhooks")),
    ],
  },
  {
    title: "guildSettings.group.moderation",
    sections: [
      section("audit-log", "guildSettings.auditLog", [P.ViewAuditLog], () => import("./audit_log/AuditLog")),
      section(
        "auto-moderation",
        "guildSettings.automod",
        [P.ManageGuild],
        () => import("./auto_moderation/Rules"),
      ),
      section("incidents", "guildSettings.incidents", [P.ManageGuild], () => import("./IncidentActions")),
    ],
  },
  {
    title: "guildSettings.group.community",
    sections: [
      section(
        "onboarding",
        "guildSettings.onboarding",
        [P.ManageGuild | P.ManageRoles],
        () => import("./community/Onboarding"),
      ),
      section(
        "welcome-screen",
        "guildSettings.welcome",
        [P.ManageGuild],
        () => import("./community/WelcomeScreen"),
      ),
      section("screening", "guildSettings.screening", [P.ManageGuild], () => import("./community/Screening")),
      section(
        "join-requests",
        "guildSettings.requests",
        [P.KickMembers],
        () => import("./community/JoinRequests"),
      ),
    ],
  },
  {
    title: "guildSettings.group.sharing",
    sections: [
      section("vanity-url", "guildSettings.vanity", [P.ManageGuild], () => import("./VanityUrl")),
      section("widget", "guildSettings.widget", [P.ManageGuild], () => import("./Widget")),
      section("template", "guildSettings.templates", [P.ManageGuild], () => import("./Templates")),
    ],
  },
];

/** The groups with the sections that somebody with these permissions sees. */
export function visibleGroups(permissions: bigint): SectionGroup[] {
  return SECTION_GROUPS.map((group) => ({
    ...group,
    sections: group.sections.filter(({ needs }) => needs.some((each) => has(permissions, each))),
  })).filter((group) => group.sections.length > 0);
}
