import type { RESTPostAPIGuildsJSONBody } from "discord-api-types/v10";

import { ChannelType, Permission } from "../../api/enums";
import type { MessageId } from "../../i18n/messages";
import type { Hue } from "../../ui/hues";

/** What a new guild may be for; each begins with channels and roles of its own. */
export const KINDS = ["friends", "club", "company", "project", "class"] as const;
export type Kind = (typeof KINDS)[number];

type Text = (id: MessageId) => string;

interface ChannelPlan {
  name: MessageId;
  topic?: MessageId;
  voice?: boolean;
  /** Only those with a role of the plan write in it. */
  readOnly?: boolean;
}

interface CategoryPlan {
  name: MessageId;
  channels: readonly ChannelPlan[];
}

interface RolePlan {
  name: MessageId;
  color: number;
}

interface Plan {
  roles: readonly RolePlan[];
  categories: readonly CategoryPlan[];
  /** Where joins are announced. */
  system: MessageId;
}

const COLORS: Partial<Record<Hue, number>> = { ember: 0xc64913, blue: 0x396ed6, green: 0x01853b };

const ANNOUNCEMENTS: ChannelPlan = {
  name: "kind.channel.announcements",
  topic: "kind.topic.announcements",
  readOnly: true,
};
const RULES: ChannelPlan = { name: "kind.channel.rules", topic: "kind.topic.rules", readOnly: true };
const GENERAL: ChannelPlan = { name: "kind.channel.general" };
const HELP: ChannelPlan = { name: "kind.channel.help", topic: "kind.topic.help" };

function plan(
  roles: readonly (readonly [MessageId, Hue])[],
  welcome: readonly ChannelPlan[],
  talk: readonly MessageId[],
  voice: readonly MessageId[],
): Plan {
  const rooms = voice.map((name) => ({ name, voice: true }));
  return {
    roles: roles.map(([name, hue]) => ({ name, color: COLORS[hue] ?? 0 })),
    categories: [
      ...(welcome.length === 0 ? [] : [{ name: "kind.category.welcome" as const, channels: welcome }]),
      {
        name: "kind.category.talk",
        channels: [GENERAL, ...talk.map((name) => (name === HELP.name ? HELP : { name }))],
      },
      { name: "kind.category.voice", channels: rooms },
    ],
    system: GENERAL.name,
  };
}

const PLANS: Readonly<Record<Kind, Plan>> = {
  friends: plan([], [], ["kind.channel.pictures", "kind.channel.plans"], ["kind.voice.living"]),
  club: plan(
    [["kind.role.board", "ember"]],
    [RULES, ANNOUNCEMENTS],
    ["kind.channel.events", "kind.channel.help"],
    ["kind.voice.meeting"],
  ),
  company: plan(
    [["kind.role.leads", "blue"]],
    [ANNOUNCEMENTS],
    ["kind.channel.projects", "kind.channel.help", "kind.channel.random"],
    ["kind.voice.meeting", "kind.voice.break"],
  ),
  project: plan(
    [
      ["kind.role.contributors", "green"],
      ["kind.role.maintainers", "blue"],
    ],
    [RULES, ANNOUNCEMENTS],
    ["kind.channel.help", "kind.channel.contributing", "kind.channel.showcase"],
    ["kind.voice.meeting"],
  ),
  class: plan(
    [["kind.role.teachers", "blue"]],
    [ANNOUNCEMENTS],
    ["kind.channel.homework", "kind.channel.questions"],
    ["kind.voice.classroom"],
  ),
};

/** The id that stands for @everyone in the request; the roles of the plan follow it. */
const EVERYONE = "0";

type NewGuildParts = Pick<RESTPostAPIGuildsJSONBody, "roles" | "channels" | "system_channel_id">;

/** The channels and roles of a kind, as the request to create a guild has them, named in a language. */
export function partsOf(kind: Kind, text: Text): NewGuildParts {
  const { roles, categories, system } = PLANS[kind];
  const roleIds = roles.map((_role, index) => String(index + 1));
  const channels: NonNullable<NewGuildParts["channels"]> = [];
  let nextId = 1;
  let systemId: number | undefined;
  for (const category of categories) {
    const parent = nextId;
    nextId += 1;
    channels.push({ id: parent, name: text(category.name), type: ChannelType.GuildCategory });
    for (const channel of category.channels) {
      systemId = channel.name === system ? nextId : systemId;
      channels.push({
        id: nextId,
        name: text(channel.name),
        type: channel.voice === true ? ChannelType.GuildVoice : ChannelType.GuildText,
        parent_id: parent,
        ...(channel.topic !== undefined && { topic: text(channel.topic) }),
        ...(channel.readOnly === true && { permission_overwrites: readOnlyFor(roleIds) }),
      });
      nextId += 1;
    }
  }
  return {
    channels,
    ...(systemId !== undefined && { system_channel_id: systemId }),
    ...(roles.length > 0 && {
      roles: [
        { id: EVERYONE, name: "@everyone" },
        ...roles.map(({ name, color }, index) => ({
          id: roleIds[index] ?? "",
          name: text(name),
          color,
          hoist: true,
          mentionable: true,
        })),
      ],
    }),
  };
}

function readOnlyFor(roleIds: readonly string[]) {
  const send = String(Permission.SendMessages);
  return [{ id: EVERYONE, type: 0, deny: send }, ...roleIds.map((id) => ({ id, type: 0, allow: send }))];
}
