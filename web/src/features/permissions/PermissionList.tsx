import { Search, TriangleAlert } from "lucide-react";
import { useState, type ReactNode } from "react";
import { Radio, RadioGroup } from "react-aria-components";

import { Permission, type PermissionName } from "../../api/enums";
import type { Part } from "../../i18n/messages";
import { useText, WithTexts } from "../../i18n/translate";
import { SearchField, Switch } from "../../ui/fields";
import { isDangerous, searchPermissions, withPermission, type PermissionTexts } from "./permissions";
import "./permissions.css";

const PARTS: readonly Part[] = ["permissions"];

interface PermissionListProps {
  /** The permissions that are listed. */
  shown: bigint;
  /** The permissions that the user may give; the others are disabled and say why. */
  grantable: bigint;
  /** The control of one permission. */
  control: (permission: PermissionTexts, isDisabled: boolean) => ReactNode;
}

/** Permissions by group, with search, plain names and descriptions; dangerous ones are marked. */
function PermissionList({ shown, grantable, control }: PermissionListProps) {
  const text = useText();
  const [query, setQuery] = useState("");
  const groups = searchPermissions(shown, query, (name) => ({
    title: text(`permission.${name}`),
    hint: text(`permission.${name}.hint`),
  }));
  return (
    <div className="permissions">
      <SearchField
        label={text("permission.search")}
        icon={<Search size={16} aria-hidden="true" />}
        value={query}
        onChange={setQuery}
      />
      {groups.length === 0 && <p className="field-hint">{text("permission.none")}</p>}
      {groups.map(([group, permissions]) => (
        <section key={group} className="permission-group">
          <h3>{text(`permission.group.${group}`)}</h3>
          <ul>
            {permissions.map((permission) => {
              const isDisabled = (grantable & Permission[permission.name]) === 0n;
              return (
                <li key={permission.name} className="permission">
                  {control(permission, isDisabled)}
                  <PermissionNotes name={permission.name} isDisabled={isDisabled} />
                </li>
              );
            })}
          </ul>
        </section>
      ))}
    </div>
  );
}

function PermissionNotes({ name, isDisabled }: { name: PermissionName; isDisabled: boolean }) {
  const text = useText();
  return (
    <>
      {isDangerous(name) && (
        <span className="permission-danger">
          <TriangleAlert size={13} aria-hidden="true" /> {text("permission.dangerous")}
        </span>
      )}
      {isDisabled && <span className="field-hint">{text("permission.notYours")}</span>}
    </>
  );
}

interface PermissionSwitchesProps {
  shown: bigint;
  grantable: bigint;
  value: bigint;
  onChange: (value: bigint) => void;
}

/** Sets permissions on or off, as roles have them. */
export function PermissionSwitches({ shown, grantable, value, onChange }: PermissionSwitchesProps) {
  return (
    <WithTexts parts={PARTS}>
      <PermissionList
        shown={shown}
        grantable={grantable}
        control={({ name, title, hint }, isDisabled) => (
          <Switch
            label={title}
            hint={hint}
            isDisabled={isDisabled}
            isSelected={(value & Permission[name]) !== 0n}
            onChange={(on) => onChange(withPermission(value, Permission[name], on))}
          />
        )}
      />
    </WithTexts>
  );
}

export interface Overwrite {
  allow: bigint;
  deny: bigint;
}

interface PermissionChoicesProps {
  shown: bigint;
  grantable: bigint;
  value: Overwrite;
  onChange: (value: Overwrite) => void;
}

type Choice = "deny" | "inherit" | "allow";

/** Allows, denies or inherits permissions, as overwrites of channels do. */
export function PermissionChoices(props: PermissionChoicesProps) {
  return (
    <WithTexts parts={PARTS}>
      <Choices {...props} />
    </WithTexts>
  );
}

function Choices({ shown, grantable, value, onChange }: PermissionChoicesProps) {
  const text = useText();
  const choose = (flag: bigint, choice: Choice) =>
    onChange({
      allow: withPermission(value.allow, flag, choice === "allow"),
      deny: withPermission(value.deny, flag, choice === "deny"),
    });
  const choiceOf = (flag: bigint): Choice => {
    if ((value.allow & flag) !== 0n) {
      return "allow";
    }
    return (value.deny & flag) !== 0n ? "deny" : "inherit";
  };
  return (
    <PermissionList
      shown={shown}
      grantable={grantable}
      control={({ name, title, hint }, isDisabled) => (
        <RadioGroup
          className="permission-choice"
          orientation="horizontal"
          aria-label={title}
          isDisabled={isDisabled}
          value={choiceOf(Permission[name])}
          onChange={(choice) => choose(Permission[name], choice as Choice)}
        >
          <span className="switch-text">
            <span className="switch-label">{title}</span>
            <span className="field-hint">{hint}</span>
          </span>
          <span className="permission-radios">
            {(["deny", "inherit", "allow"] as const).map((choice) => (
              <Radio
                key={choice}
                value={choice}
                className={`permission-radio permission-${choice}`}
                aria-label={text(`permission.${choice}`)}
              >
                {{ deny: "✕", inherit: "/", allow: "✓" }[choice]}
              </Radio>
            ))}
          </span>
        </RadioGroup>
      )}
    />
  );
}
