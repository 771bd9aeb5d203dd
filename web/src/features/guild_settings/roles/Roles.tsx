import { Link, useNavigate } from "@tanstack/react-router";
import type { APIRole } from "discord-api-types/v10";
import { ChevronRight, GripVertical, Plus, Users } from "lucide-react";
import { useState } from "react";
import { Button as AriaButton, GridList, GridListItem, useDragAndDrop } from "react-aria-components";

import { roleIconUrl } from "../../../api/images";
import { createRole, getRoleMemberCounts, modifyRolePositions } from "../../../api/roles";
import { useText } from "../../../i18n/translate";
import { orderedRoles, outranks } from "../../../store/ranks";
import { Button } from "../../../ui/controls";
import { ErrorNotice } from "../../session/ErrorNotice";
import { useAppState, useSession } from "../../session/session";
import { useAction } from "../../session/useAction";
import { settingsLink } from "../links";
import { useGuildQuery } from "../queries";
import type { SectionProps } from "../section";
import { reordered, rolePositions } from "./order";
import { RoleEditor } from "./RoleEditor";
import "./roles.css";

/** The roles of a guild, or one of them. */
export default function Roles({ guild, permissions, itemId }: SectionProps) {
  const role = itemId === null ? undefined : guild.roles[itemId];
  return role === undefined ? (
    <RoleList guild={guild} permissions={permissions} itemId={null} />
  ) : (
    <RoleEditor key={role.id} guild={guild} role={role} permissions={permissions} />
  );
}

function RoleList({ guild }: SectionProps) {
  const text = useText();
  const { api } = useSession();
  const navigate = useNavigate();
  const action = useAction();
  const counts = useGuildQuery(guild.id, "role counts", getRoleMemberCounts);
  const [order, setOrder] = useState<readonly string[] | null>(null);
  const roles = orderedRoles(guild);
  const below = useAppState((state) => roles.filter((role) => outranks(state, guild, role)).length);
  const others = roles.filter((role) => role.id !== guild.id);
  const fixed = others.slice(0, Math.max(0, roles.length - below));
  const movable = inOrder(others.slice(fixed.length), order);
  const move = async (ids: readonly string[]) => {
    setOrder(ids);
    const all = [...fixed.map(({ id }) => id), ...ids];
    await action.run(() => modifyRolePositions(api, guild.id, rolePositions(all)));
    setOrder(null);
  };
  const { dragAndDropHooks } = useDragAndDrop<APIRole>({
    getItems: (keys) => [...keys].map((key) => ({ "text/plain": guild.roles[String(key)]?.name ?? "" })),
    onReorder: ({ keys, target }) => {
      const ids = movable.map(({ id }) => id);
      void move(reordered(ids, [...keys].map(String), String(target.key), target.dropPosition === "after"));
    },
  });
  const create = async () => {
    const role = await createRole(api, guild.id, { name: text("guildSettings.roles.new") });
    await navigate(settingsLink(guild.id, "roles", role.id));
  };
  return (
    <div className="settings-block">
      <p>{text("guildSettings.roles.hint")}</p>
      <div className="settings-bar">
        <Button kind="primary" isDisabled={action.pending} onPress={() => void action.run(create)}>
          <Plus size={16} aria-hidden="true" /> {text("guildSettings.roles.create")}
        </Button>
      </div>
      <ErrorNotice error={action.error} />
      {fixed.length > 0 && (
        <>
          <h3>{text("guildSettings.roles.above")}</h3>
          <ul className="settings-list">
            {fixed.map((role) => (
              <li key={role.id} className="settings-row role-row">
                <RoleLink guildId={guild.id} role={role} count={counts.data?.[role.id]} />
              </li>
            ))}
          </ul>
        </>
      )}
      {movable.length === 0 ? (
        <p className="settings-empty">{text("guildSettings.roles.empty")}</p>
      ) : (
        <GridList
          aria-label={text("guildSettings.roles")}
          className="settings-list"
          items={movable}
          dependencies={[counts.data]}
          dragAndDropHooks={dragAndDropHooks}
          onAction={(key) => void navigate(settingsLink(guild.id, "roles", String(key)))}
        >
          {(role) => (
            <GridListItem id={role.id} textValue={role.name} className="settings-row role-row role-movable">
              <AriaButton
                slot="drag"
                className="icon-button"
                aria-label={text("guildSettings.roles.drag", { name: role.name })}
              >
                <GripVertical size={18} aria-hidden="true" />
              </AriaButton>
              <RoleSummary role={role} count={counts.data?.[role.id]} />
            </GridListItem>
          )}
        </GridList>
      )}
      <ul className="settings-list">
        <li className="settings-row role-row">
          <Link {...settingsLink(guild.id, "roles", guild.id)} className="settings-link">
            <span className="settings-row-text">
              <strong>@everyone</strong>
              <span>{text("guildSettings.roles.everyone")}</span>
            </span>
            <ChevronRight size={18} aria-hidden="true" />
          </Link>
        </li>
      </ul>
    </div>
  );
}

/** Roles in an order that was just requested, or their own. */
function inOrder(roles: readonly APIRole[], order: readonly string[] | null): APIRole[] {
  return order === null ? [...roles] : [...roles].sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
}

interface RoleRowProps {
  role: APIRole;
  count: number | undefined;
}

function RoleLink({ guildId, role, count }: RoleRowProps & { guildId: string }) {
  return (
    <Link {...settingsLink(guildId, "roles", role.id)} className="settings-link">
      <RoleSummary role={role} count={count} />
    </Link>
  );
}

function RoleSummary({ role, count }: RoleRowProps) {
  const text = useText();
  return (
    <>
      <RoleMark role={role} />
      <span className="settings-row-text">
        <strong>{role.name}</strong>
        {role.managed && <span>{text("guildSettings.roles.managed")}</span>}
      </span>
      <span className="role-count" title={text("guildSettings.roles.count", { count: count ?? 0 })}>
        <Users size={14} aria-hidden="true" /> {count ?? "…"}
        <span className="visually-hidden">{text("guildSettings.roles.count", { count: count ?? 0 })}</span>
      </span>
      <ChevronRight size={18} aria-hidden="true" />
    </>
  );
}

/** A role's icon, emoji, or colour. */
export function RoleMark({ role }: { role: Pick<APIRole, "id" | "color" | "icon" | "unicode_emoji"> }) {
  const icon = roleIconUrl(role.id, role.icon, 20);
  if (icon !== null) {
    return <img src={icon} alt="" width={20} height={20} />;
  }
  if (role.unicode_emoji) {
    return <span aria-hidden="true">{role.unicode_emoji}</span>;
  }
  const color = role.color === 0 ? undefined : `#${role.color.toString(16).padStart(6, "0")}`;
  return <span className="role-dot" style={{ background: color }} aria-hidden="true" />;
}
