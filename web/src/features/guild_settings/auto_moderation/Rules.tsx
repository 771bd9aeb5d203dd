import { Link, useNavigate } from "@tanstack/react-router";
import type { APIAutoModerationRule } from "discord-api-types/v10";
import { ChevronRight, Plus } from "lucide-react";

import { Permission } from "../../../api/enums";
import { listRules, modifyRule } from "../../../api/moderation";
import { useText } from "../../../i18n/translate";
import { has } from "../../../store/permissions";
import { Button } from "../../../ui/controls";
import { Menu, MenuItem } from "../../../ui/Menu";
import { Switch } from "../../../ui/fields";
import { ErrorNotice } from "../../session/ErrorNotice";
import { useSession } from "../../session/session";
import { useAction } from "../../session/useAction";
import { settingsLink } from "../links";
import { Loaded, useGuildQuery } from "../queries";
import type { SectionProps } from "../section";
import { RuleEditor } from "./RuleEditor";
import { creatableTypes, TRIGGER_TYPES, type TriggerType } from "./rules";

const NEW = "new-";

/** The auto moderation rules of a guild, or one of them, which may be a new one. */
export default function Rules({ guild, permissions, itemId }: SectionProps) {
  const query = useGuildQuery(guild.id, "auto moderation", listRules);
  const newType = itemId?.startsWith(NEW)
    ? TRIGGER_TYPES.find((type) => String(type) === itemId.slice(NEW.length))
    : undefined;
  const canModerate = has(permissions, Permission.ModerateMembers);
  return (
    <Loaded query={query}>
      {(rules) => {
        const rule = rules.find(({ id }) => id === itemId);
        const type = newType ?? rule?.trigger_type;
        return type !== undefined ? (
          <RuleEditor
            key={itemId}
            guild={guild}
            rule={rule ?? null}
            type={type}
            canModerate={canModerate}
            onChange={() => query.refetch()}
          />
        ) : (
          <RuleList guildId={guild.id} rules={rules} onChange={() => query.refetch()} />
        );
      }}
    </Loaded>
  );
}

interface RuleListProps {
  guildId: string;
  rules: readonly APIAutoModerationRule[];
  onChange: () => Promise<unknown>;
}

function RuleList({ guildId, rules, onChange }: RuleListProps) {
  const text = useText();
  const { api } = useSession();
  const navigate = useNavigate();
  const action = useAction();
  const types = creatableTypes(rules);
  const enable = (rule: APIAutoModerationRule, enabled: boolean) =>
    action.run(async () => {
      await modifyRule(api, guildId, rule.id, { enabled });
      await onChange();
    });
  return (
    <div className="settings-block">
      <p>{text("guildSettings.automod.hint")}</p>
      <div className="settings-bar">
        <Menu
          label={text("guildSettings.automod.create")}
          trigger={
            <Button kind="primary" isDisabled={types.length === 0}>
              <Plus size={16} aria-hidden="true" /> {text("guildSettings.automod.create")}
            </Button>
          }
        >
          {types.map((type) => (
            <MenuItem
              key={type}
              onAction={() => void navigate(settingsLink(guildId, "auto-moderation", `${NEW}${type}`))}
            >
              {text(`guildSettings.automod.type.${type}`)}
            </MenuItem>
          ))}
        </Menu>
      </div>
      <ErrorNotice error={action.error} />
      {rules.length === 0 && <p className="settings-empty">{text("guildSettings.automod.empty")}</p>}
      <ul className="settings-list" aria-label={text("guildSettings.automod")}>
        {rules.map((rule) => (
          <li key={rule.id} className="settings-row">
            <Link {...settingsLink(guildId, "auto-moderation", rule.id)} className="settings-link">
              <span className="settings-row-text">
                <strong>{rule.name}</strong>
                <span>{text(`guildSettings.automod.type.${rule.trigger_type as TriggerType}`)}</span>
              </span>
              <ChevronRight size={18} aria-hidden="true" />
            </Link>
            <Switch
              label={text("guildSettings.automod.enabled", { name: rule.name })}
              hidesLabel
              isSelected={rule.enabled}
              isDisabled={action.pending}
              onChange={(enabled) => void enable(rule, enabled)}
            />
          </li>
        ))}
      </ul>
    </div>
  );
}
