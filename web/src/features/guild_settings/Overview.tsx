import { useQueryClient } from "@tanstack/react-query";
import type { APIGuild } from "discord-api-types/v10";
import { Fragment } from "react";

import { ChannelType, Permission } from "../../api/enums";
import { getGuild, listVoiceRegions, modifyGuild } from "../../api/guild_settings";
import { guildIconUrl, guildImageUrl } from "../../api/images";
import type { MessageId } from "../../i18n/messages";
import { useText } from "../../i18n/translate";
import { has } from "../../store/permissions";
import { TextField } from "../../ui/TextField";
import { ImageField, Switch } from "../../ui/fields";
import { Select } from "../../ui/Select";
import { useSession } from "../session/session";
import { Button } from "../../ui/controls";
import { CommunityChannels } from "./CommunityChannels";
import { DangerZone } from "./DangerZone";
import { FormFrame } from "./Form";
import { optional, useChannelOptions } from "./options";
import { Loaded, useGuildQuery } from "./queries";
import type { SectionProps } from "./section";
import { useForm, type SettingsForm } from "../session/useForm";

const LOCALES = [
  ...["ar", "bg", "cs", "da", "de", "el", "en-GB", "en-US", "es-419", "es-ES", "fi", "fr", "he", "hi", "hr"],
  ...["hu", "id", "it", "ja", "ko", "lt", "nl", "no", "pl", "pt-BR", "ro", "ru", "sv-SE", "th", "tr", "uk"],
  ...["vi", "zh-CN", "zh-TW"],
];
const AFK_TIMEOUTS = [60, 300, 900, 1800, 3600];
const SYSTEM_FLAGS = [0, 1, 2, 3, 4, 5] as const;
const FEATURES: readonly [string, label: MessageId, hint: MessageId, needsAdministrator: boolean][] = [
  ["COMMUNITY", "guildSettings.overview.community", "guildSettings.overview.community.hint", true],
  ["DISCOVERABLE", "guildSettings.overview.discoverable", "guildSettings.overview.discoverable.hint", true],
  [
    "INVITES_DISABLED",
    "guildSettings.overview.invitesDisabled",
    "guildSettings.overview.invitesDisabled.hint",
    false,
  ],
  [
    "RAID_ALERTS_DISABLED",
    "guildSettings.overview.raidAlertsDisabled",
    "guildSettings.overview.raidAlertsDisabled.hint",
    false,
  ],
];

/** What the form edits, under the names of Modify Guild. Pictures are hashes, or data URIs of new ones. */
type Fields = Pick<APIGuild, Exclude<(typeof FIELDS)[number], keyof Plain>> & Plain;

/** Fields whose enums a menu edits as numbers and texts. */
interface Plain {
  features: readonly string[];
  region: string;
  preferred_locale: string;
  system_channel_flags: number;
  verification_level: number;
  explicit_content_filter: number;
  default_message_notifications: number;
  afk_timeout: number;
}

const FIELDS = [
  "name",
  "description",
  "icon",
  "banner",
  "splash",
  "discovery_splash",
  "system_channel_id",
  "system_channel_flags",
  "rules_channel_id",
  "public_updates_channel_id",
  "safety_alerts_channel_id",
  "afk_channel_id",
  "afk_timeout",
  "verification_level",
  "default_message_notifications",
  "explicit_content_filter",
  "preferred_locale",
  "region",
  "features",
  "premium_progress_bar_enabled",
] as const satisfies readonly (keyof APIGuild)[];

/** Every field of the guild itself, and its end. */
export default function Overview({ guild, permissions }: SectionProps) {
  const query = useGuildQuery(guild.id, "guild", getGuild);
  return (
    <>
      <Loaded query={query}>
        {(full) => <OverviewForm guild={full} isAdministrator={has(permissions, Permission.Administrator)} />}
      </Loaded>
      <DangerZone guild={guild} />
    </>
  );
}

function OverviewForm({ guild, isAdministrator }: { guild: APIGuild; isAdministrator: boolean }) {
  const { api, account } = useSession();
  const client = useQueryClient();
  const initial = Object.fromEntries(FIELDS.map((field) => [field, guild[field]])) as unknown as Fields;
  const form = useForm(initial, async (changes) => {
    const changed = await modifyGuild(api, guild.id, changes);
    client.setQueryData([account.userId, "guild", guild.id, "guild"], changed);
  });
  return (
    <FormFrame form={form} shown={FIELDS}>
      <Identity guild={guild} form={form} />
      <Channels guild={guild} form={form} />
      <Safety form={form} guildId={guild.id} />
      <Features form={form} guildId={guild.id} isAdministrator={isAdministrator} />
    </FormFrame>
  );
}

interface PartProps {
  form: SettingsForm<Fields>;
}

/** The URL of a picture that is saved, or that was just chosen. */
function shownImage(value: string | null, url: (hash: string | null) => string | null): string | null {
  return value?.startsWith("data:") ? value : url(value);
}

function Identity({ guild, form }: PartProps & { guild: APIGuild }) {
  const text = useText();
  const { value, set, errorOf } = form;
  const wide = [
    ["banner", "banners", "guildSettings.overview.banner", "BANNER"],
    ["splash", "splashes", "guildSettings.overview.splash", "INVITE_SPLASH"],
    ["discovery_splash", "discovery-splashes", "guildSettings.overview.discoverySplash", "DISCOVERABLE"],
  ] as const;
  return (
    <>
      <h2>{text("guildSettings.overview.identity")}</h2>
      <TextField
        label={text("guildSettings.overview.name")}
        value={value.name}
        onChange={(name) => set("name", name)}
        isRequired
        error={errorOf("name")}
      />
      <TextField
        label={text("guildSettings.overview.description")}
        value={value.description ?? ""}
        onChange={(description) => set("description", description === "" ? null : description)}
        multiline
        maxLength={300}
        error={errorOf("description")}
      />
      <ImageField
        label={text("guildSettings.overview.icon")}
        shape="round"
        crops
        url={shownImage(value.icon, (hash) => guildIconUrl(guild.id, hash, 64))}
        onChange={(icon) => set("icon", icon)}
        error={errorOf("icon")}
      />
      <div className="settings-columns">
        {wide.map(([field, kind, label, feature]) => (
          <ImageField
            key={field}
            label={text(label)}
            shape="wide"
            hint={
              value.features.includes(feature)
                ? text("guildSettings.overview.wide")
                : text(
                    feature === "DISCOVERABLE"
                      ? "guildSettings.overview.undiscoverable"
                      : "guildSettings.overview.locked",
                  )
            }
            isDisabled={!value.features.includes(feature) && value[field] === null}
            url={shownImage(value[field], (hash) => guildImageUrl(kind, guild.id, hash, 160))}
            onChange={(image) => set(field, image)}
            error={errorOf(field)}
          />
        ))}
      </div>
    </>
  );
}

function Channels({ guild, form }: PartProps & { guild: APIGuild }) {
  const text = useText();
  const { value, set, errorOf } = form;
  const texts = useChannelOptions(guild.id, [ChannelType.GuildText]);
  const voices = useChannelOptions(guild.id, [ChannelType.GuildVoice]);
  const none = text("guildSettings.noneChosen");
  const channels = [
    ["system_channel_id", "guildSettings.overview.systemChannel"],
    ["rules_channel_id", "guildSettings.overview.rulesChannel"],
    ["public_updates_channel_id", "guildSettings.overview.updatesChannel"],
    ["safety_alerts_channel_id", "guildSettings.overview.safetyChannel"],
  ] as const;
  const flags = value.system_channel_flags;
  return (
    <>
      <h2>{text("guildSettings.overview.channels")}</h2>
      <div className="settings-columns">
        {channels.map(([field, label]) => (
          <Select
            key={field}
            label={text(label)}
            value={value[field] ?? ""}
            options={optional(texts, none)}
            onChange={(id) => set(field, id === "" ? null : id)}
            error={errorOf(field)}
          />
        ))}
        <Select
          label={text("guildSettings.overview.afkChannel")}
          value={value.afk_channel_id ?? ""}
          options={optional(voices, none)}
          onChange={(id) => set("afk_channel_id", id === "" ? null : id)}
          error={errorOf("afk_channel_id")}
        />
        <Select
          label={text("guildSettings.overview.afkTimeout")}
          value={String(value.afk_timeout)}
          options={AFK_TIMEOUTS.map((seconds) => [
            String(seconds),
            seconds === 3600
              ? text("guildSettings.overview.hour")
              : text("guildSettings.overview.minutes", { count: seconds / 60 }),
          ])}
          onChange={(seconds) => set("afk_timeout", Number(seconds))}
          error={errorOf("afk_timeout")}
        />
      </div>
      <h3>{text("guildSettings.overview.systemMessages")}</h3>
      {SYSTEM_FLAGS.map((bit) => (
        <Switch
          key={bit}
          label={text(`guildSettings.overview.flag.${bit}`)}
          isSelected={(flags & (1 << bit)) === 0}
          isDisabled={value.system_channel_id === null}
          onChange={(posted) =>
            set("system_channel_flags", posted ? flags & ~(1 << bit) : flags | (1 << bit))
          }
        />
      ))}
    </>
  );
}

function Safety({ form, guildId }: PartProps & { guildId: string }) {
  const text = useText();
  const { value, set, errorOf } = form;
  const regions = useGuildQuery(guildId, "regions", listVoiceRegions);
  const names = new Intl.DisplayNames(undefined, { type: "language" });
  const regionOptions = (regions.data ?? []).map(({ id, name }) => [id, name] as const);
  return (
    <>
      <h2>{text("guildSettings.overview.safety")}</h2>
      <div className="settings-columns">
        <Select
          label={text("guildSettings.overview.verification")}
          value={String(value.verification_level)}
          options={([0, 1, 2, 3, 4] as const).map((level) => [
            String(level),
            text(`guildSettings.overview.verification.${level}`),
          ])}
          onChange={(level) => set("verification_level", Number(level))}
          error={errorOf("verification_level")}
        />
        <Select
          label={text("guildSettings.overview.filter")}
          value={String(value.explicit_content_filter)}
          options={([0, 1, 2] as const).map((level) => [
            String(level),
            text(`guildSettings.overview.filter.${level}`),
          ])}
          onChange={(level) => set("explicit_content_filter", Number(level))}
          error={errorOf("explicit_content_filter")}
        />
        <Select
          label={text("guildSettings.overview.notifications")}
          value={String(value.default_message_notifications)}
          options={([0, 1] as const).map((level) => [
            String(level),
            text(`guildSettings.overview.notifications.${level}`),
          ])}
          onChange={(level) => set("default_message_notifications", Number(level))}
          error={errorOf("default_message_notifications")}
        />
        <Select
          label={text("guildSettings.overview.locale")}
          value={value.preferred_locale}
          options={LOCALES.map((locale) => [locale, names.of(locale) ?? locale])}
          onChange={(locale) => set("preferred_locale", locale)}
          error={errorOf("preferred_locale")}
        />
        <Select
          label={text("guildSettings.overview.region")}
          value={value.region}
          options={
            regionOptions.some(([id]) => id === value.region)
              ? regionOptions
              : [[value.region, value.region], ...regionOptions]
          }
          onChange={(region) => set("region", region)}
          error={errorOf("region")}
        />
      </div>
    </>
  );
}

function Features({
  form,
  guildId,
  isAdministrator,
}: PartProps & { guildId: string; isAdministrator: boolean }) {
  const text = useText();
  const { value, set, errorOf } = form;
  const isSwitchedOn = (feature: string) =>
    value.features.includes(feature) && form.changes.features !== undefined;
  const needsChannels =
    value.features.includes("COMMUNITY") &&
    (isSwitchedOn("COMMUNITY") || form.changes.rules_channel_id !== undefined) &&
    (value.rules_channel_id === null ||
      value.public_updates_channel_id === null ||
      form.changes.rules_channel_id !== undefined ||
      form.changes.public_updates_channel_id !== undefined);
  return (
    <>
      <h2>{text("guildSettings.overview.features")}</h2>
      {FEATURES.map(([feature, label, hint, needsAdministrator]) => {
        const locked = needsAdministrator && !isAdministrator;
        return (
          <Fragment key={feature}>
            <Switch
              label={text(label)}
              hint={
                locked ? `${text(hint)} ${text("guildSettings.overview.needsAdministrator")}` : text(hint)
              }
              isSelected={value.features.includes(feature)}
              isDisabled={locked}
              onChange={(on) =>
                set(
                  "features",
                  on ? [...value.features, feature] : value.features.filter((each) => each !== feature),
                )
              }
            />
            {feature === "COMMUNITY" && needsChannels && <CommunityChannels guildId={guildId} form={form} />}
            {feature === "DISCOVERABLE" && isSwitchedOn(feature) && <DiscoveryNeeds form={form} />}
          </Fragment>
        );
      })}
      <Switch
        label={text("guildSettings.overview.progressBar")}
        hint={text("guildSettings.overview.progressBar.hint")}
        isSelected={value.premium_progress_bar_enabled}
        onChange={(on) => set("premium_progress_bar_enabled", on)}
      />
      {errorOf("features") !== undefined && <p className="field-error">{errorOf("features")}</p>}
    </>
  );
}

const VERIFIED_EMAIL = 1;
const ALL_MEMBERS = 2;

/** What a guild still lacks before it can be discovered, and a button for what needs no words of its own. */
function DiscoveryNeeds({ form }: PartProps) {
  const text = useText();
  const { value, set } = form;
  const isCommunity = value.features.includes("COMMUNITY");
  const isDescribed = (value.description ?? "").trim() !== "";
  const isVerified = value.verification_level >= VERIFIED_EMAIL;
  const isFiltered = value.explicit_content_filter === ALL_MEMBERS;
  const needs: readonly [boolean, MessageId][] = [
    [isCommunity, "guildSettings.discoverable.COMMUNITY"],
    [isDescribed, "guildSettings.discoverable.description"],
    [isVerified, "guildSettings.discoverable.verification"],
    [isFiltered, "guildSettings.discoverable.filter"],
  ];
  const missing = needs.filter(([isMet]) => !isMet);
  if (missing.length === 0) {
    return null;
  }
  const setWhatCanBe = () => {
    if (!isCommunity) {
      set("features", [...value.features, "COMMUNITY"]);
    }
    if (!isVerified) {
      set("verification_level", VERIFIED_EMAIL);
    }
    set("explicit_content_filter", ALL_MEMBERS);
  };
  return (
    <div className="notice stack">
      <p>{text("guildSettings.discoverable.missing")}</p>
      <ul>
        {missing.map(([, id]) => (
          <li key={id}>{text(id)}</li>
        ))}
      </ul>
      {!(isCommunity && isVerified && isFiltered) && (
        <Button onPress={setWhatCanBe}>{text("guildSettings.discoverable.set")}</Button>
      )}
    </div>
  );
}
