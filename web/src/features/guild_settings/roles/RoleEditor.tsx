import { Link, useNavigate } from "@tanstack/react-router";
import type { APIRole } from "discord-api-types/v10";
import { ArrowLeft, Eye, Smile, Trash2 } from "lucide-react";
import { useState } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";

import { roleIconUrl } from "../../../api/images";
import { deleteRole, modifyRole, type RoleChanges, type RoleColors } from "../../../api/roles";
import { useText } from "../../../i18n/translate";
import { ALL_PERMISSIONS } from "../../../store/permissions";
import { outranks } from "../../../store/ranks";
import type { GuildState } from "../../../store/state";
import { Button } from "../../../ui/controls";
import { TextField } from "../../../ui/TextField";
import { ImageField, Switch } from "../../../ui/fields";
import { ColorField } from "../../../ui/ColorField";
import { Select } from "../../../ui/Select";
import { PermissionSwitches } from "../../permissions/PermissionList";
import { useAppState, useSession } from "../../session/session";
import { Confirm } from "../../session/Confirm";
import { EmojiButton } from "../EmojiButton";
import { FormFrame } from "../Form";
import { settingsLink } from "../links";
import { useForm, type SettingsForm } from "../../session/useForm";
import { RoleMembers } from "./RoleMembers";

/** The colours of the holographic style, the only ones that three colours may be. */
const HOLOGRAPHIC: RoleColors = {
  primary_color: 11_127_295,
  secondary_color: 16_759_788,
  tertiary_color: 16_761_760,
};
const DEFAULT_SECOND = 0x5b8def;

interface Fields {
  name: string;
  colors: RoleColors;
  hoist: boolean;
  mentionable: boolean;
  icon: string | null;
  unicode_emoji: string | null;
  permissions: string;
}

function fieldsOf(role: APIRole): Fields {
  return {
    name: role.name,
    colors: {
      primary_color: role.colors.primary_color,
      secondary_color: role.colors.secondary_color,
      tertiary_color: role.colors.tertiary_color,
    },
    hoist: role.hoist,
    mentionable: role.mentionable,
    icon: role.icon ?? null,
    unicode_emoji: role.unicode_emoji ?? null,
    permissions: role.permissions,
  };
}

interface RoleEditorProps {
  guild: GuildState;
  role: APIRole;
  permissions: bigint;
}

/** Edits a role: how it looks, what it permits and who has it. */
export function RoleEditor({ guild, role, permissions }: RoleEditorProps) {
  const text = useText();
  const { api } = useSession();
  const isEveryone = role.id === guild.id;
  const isEditable = useAppState((state) => outranks(state, guild, role));
  const form = useForm(fieldsOf(role), (changes) =>
    modifyRole(api, guild.id, role.id, changes as RoleChanges),
  );
  // What the role permits already may be taken and given back.
  const grantable = isEditable ? permissions | BigInt(role.permissions) : 0n;
  const panel = (fields: React.ReactNode) => (
    <FormFrame form={form} shown={["name", "colors", "icon", "unicode_emoji", "permissions"]}>
      {fields}
    </FormFrame>
  );
  const permissionFields = (
    <PermissionSwitches
      shown={ALL_PERMISSIONS}
      grantable={grantable}
      value={BigInt(form.value.permissions)}
      onChange={(value) => form.set("permissions", String(value))}
    />
  );
  return (
    <>
      <RoleHeader guild={guild} role={role} isEditable={isEditable} />
      {!isEditable && <p className="notice">{text("guildSettings.roles.notEditable")}</p>}
      {isEveryone ? (
        panel(permissionFields)
      ) : (
        <Tabs>
          <TabList aria-label={role.name} className="settings-tabs">
            <Tab id="display" className="settings-tab">
              {text("guildSettings.roles.display")}
            </Tab>
            <Tab id="permissions" className="settings-tab">
              {text("guildSettings.roles.permissions")}
            </Tab>
            <Tab id="members" className="settings-tab">
              {text("guildSettings.roles.members")}
            </Tab>
          </TabList>
          <FormFrame form={form} shown={["name", "colors", "icon", "unicode_emoji", "permissions"]}>
            <TabPanel id="display" className="stack">
              <Display form={form} guild={guild} role={role} isEditable={isEditable} />
            </TabPanel>
            <TabPanel id="permissions">{permissionFields}</TabPanel>
          </FormFrame>
          <TabPanel id="members">
            <RoleMembers guild={guild} role={role} />
          </TabPanel>
        </Tabs>
      )}
    </>
  );
}

function RoleHeader({ guild, role, isEditable }: { guild: GuildState; role: APIRole; isEditable: boolean }) {
  const text = useText();
  const { api, store } = useSession();
  const navigate = useNavigate();
  const [deleting, setDeleting] = useState(false);
  const preview = async () => {
    // The preview may hide these settings, so they are left first.
    await navigate({ to: "/channels/$guildId", params: { guildId: guild.id } });
    store.update((state) => ({
      ...state,
      rolePreview: { guildId: guild.id, roleIds: role.id === guild.id ? [] : [role.id] },
    }));
  };
  return (
    <div className="settings-item-header">
      <Link {...settingsLink(guild.id, "roles")} className="settings-back">
        <ArrowLeft size={16} aria-hidden="true" /> {text("guildSettings.roles")}
      </Link>
      <div className="settings-card-header">
        <h2>{role.name}</h2>
        <span className="settings-row-actions">
          <Button onPress={() => void preview()}>
            <Eye size={16} aria-hidden="true" /> {text("guildSettings.roles.preview")}
          </Button>
          {isEditable && !role.managed && role.id !== guild.id && (
            <Button kind="danger" onPress={() => setDeleting(true)}>
              <Trash2 size={16} aria-hidden="true" /> {text("common.delete")}
            </Button>
          )}
        </span>
      </div>
      {deleting && (
        <Confirm
          title={text("guildSettings.roles.delete")}
          question={text("guildSettings.roles.delete.question", { name: role.name })}
          confirm={text("common.delete")}
          onConfirm={async () => {
            await deleteRole(api, guild.id, role.id);
            await navigate({ ...settingsLink(guild.id, "roles"), ignoreBlocker: true });
          }}
          onClose={() => setDeleting(false)}
        />
      )}
    </div>
  );
}

interface DisplayProps {
  form: SettingsForm<Fields>;
  guild: GuildState;
  role: APIRole;
  isEditable: boolean;
}

function Display({ form, guild, role, isEditable }: DisplayProps) {
  const text = useText();
  const { value, set, errorOf } = form;
  return (
    <>
      <TextField
        label={text("guildSettings.roles.name")}
        value={value.name}
        onChange={(name) => set("name", name)}
        isRequired
        isDisabled={!isEditable}
        maxLength={100}
        error={errorOf("name")}
      />
      <Colors form={form} guild={guild} isEditable={isEditable} />
      <RoleIcon form={form} guild={guild} role={role} isEditable={isEditable} />
      <Switch
        label={text("guildSettings.roles.hoist")}
        hint={text("guildSettings.roles.hoist.hint")}
        isSelected={value.hoist}
        isDisabled={!isEditable}
        onChange={(hoist) => set("hoist", hoist)}
      />
      <Switch
        label={text("guildSettings.roles.mentionable")}
        hint={text("guildSettings.roles.mentionable.hint")}
        isSelected={value.mentionable}
        isDisabled={!isEditable}
        onChange={(mentionable) => set("mentionable", mentionable)}
      />
    </>
  );
}

type ColorStyle = "none" | "solid" | "gradient" | "holographic";

function styleOf(colors: RoleColors): ColorStyle {
  if (colors.tertiary_color !== null) {
    return "holographic";
  }
  if (colors.secondary_color !== null) {
    return "gradient";
  }
  return colors.primary_color === 0 ? "none" : "solid";
}

function Colors({ form, guild, isEditable }: Omit<DisplayProps, "role">) {
  const text = useText();
  const { colors } = form.value;
  const style = styleOf(colors);
  const hasStyles = guild.features.includes("ENHANCED_ROLE_COLORS");
  const styles: readonly ColorStyle[] = hasStyles
    ? ["none", "solid", "gradient", "holographic"]
    : ["none", "solid", ...(style === "gradient" || style === "holographic" ? [style] : [])];
  const choose = (next: ColorStyle) => {
    const primary = style === "holographic" ? DEFAULT_SECOND : colors.primary_color || DEFAULT_SECOND;
    const byStyle: Record<ColorStyle, RoleColors> = {
      none: { primary_color: 0, secondary_color: null, tertiary_color: null },
      solid: { primary_color: primary, secondary_color: null, tertiary_color: null },
      gradient: { primary_color: primary, secondary_color: DEFAULT_SECOND, tertiary_color: null },
      holographic: HOLOGRAPHIC,
    };
    form.set("colors", byStyle[next]);
  };
  return (
    <div className="settings-columns">
      <Select
        label={text("guildSettings.roles.colorStyle")}
        hint={hasStyles ? undefined : text("guildSettings.roles.colorStyle.locked")}
        value={style}
        options={styles.map((each) => [each, text(`guildSettings.roles.color.${each}`)])}
        isDisabled={!isEditable}
        onChange={choose}
        error={form.errorOf("colors")}
      />
      {(style === "solid" || style === "gradient") && (
        <ColorField
          label={text("guildSettings.roles.color")}
          value={colors.primary_color}
          isDisabled={!isEditable}
          onChange={(color) => form.set("colors", { ...colors, primary_color: color })}
        />
      )}
      {style === "gradient" && (
        <ColorField
          label={text("guildSettings.roles.color.second")}
          value={colors.secondary_color ?? 0}
          isDisabled={!isEditable}
          onChange={(color) => form.set("colors", { ...colors, secondary_color: color })}
        />
      )}
    </div>
  );
}

function RoleIcon({ form, guild, role, isEditable }: DisplayProps) {
  const text = useText();
  const { value, set, errorOf } = form;
  const hasIcons = guild.features.includes("ROLE_ICONS");
  const isDisabled = !isEditable || (!hasIcons && value.icon === null && value.unicode_emoji === null);
  return (
    <>
      <ImageField
        label={text("guildSettings.roles.icon")}
        hint={hasIcons ? undefined : text("guildSettings.roles.icon.locked")}
        shape="round"
        accept="image/png,image/jpeg,image/webp"
        url={value.icon?.startsWith("data:") ? value.icon : roleIconUrl(role.id, value.icon, 64)}
        isDisabled={isDisabled}
        onChange={(icon) => set("icon", icon)}
        error={errorOf("icon")}
      />
      {(hasIcons || value.unicode_emoji !== null) && (
        <div className="settings-bar">
          <span>
            {text("guildSettings.roles.emoji")}: {value.unicode_emoji ?? text("guildSettings.noneChosen")}
          </span>
          <EmojiButton
            label={text("guildSettings.roles.emoji.choose")}
            icon={<Smile size={18} />}
            onSelect={(emoji) => set("unicode_emoji", emoji)}
          />
          {value.unicode_emoji !== null && (
            <Button isDisabled={!isEditable} onPress={() => set("unicode_emoji", null)}>
              {text("common.delete")}
            </Button>
          )}
          {errorOf("unicode_emoji") !== undefined && (
            <span className="field-error">{errorOf("unicode_emoji")}</span>
          )}
        </div>
      )}
    </>
  );
}
