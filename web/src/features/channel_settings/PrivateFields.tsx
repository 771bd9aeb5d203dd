import type { APIOverwrite } from "discord-api-types/v10";

import { Permission, type ChannelType } from "../../api/enums";
import { useText } from "../../i18n/translate";
import { guildPermissions, has } from "../../store/permissions";
import { Picker } from "../../ui/Picker";
import { Switch } from "../../ui/fields";
import { useAppState, useSession } from "../session/session";
import {
  entrantIds,
  entryPermissions,
  isPrivate,
  withEntrants,
  withPrivacy,
  type OverwriteDraft,
} from "./overwriteDraft";
import { useTargets } from "./useTargets";

interface PrivateFieldsProps {
  guildId: string;
  type: ChannelType;
  saved: readonly APIOverwrite[];
  draft: OverwriteDraft;
  onChange: (draft: OverwriteDraft) => void;
  isDisabled?: boolean;
}

/** Whether a channel is private, and who may enter then. */
export function PrivateFields({
  guildId,
  type,
  saved,
  draft,
  onChange,
  isDisabled = false,
}: PrivateFieldsProps) {
  const text = useText();
  const { store, account } = useSession();
  const entrants = entrantIds(draft, saved, guildId);
  const targets = useTargets(guildId, entrants);
  const on = isPrivate(draft, saved, guildId);
  const entry = entryPermissions(type);
  // Administrators enter every channel; others would lock themselves out.
  const isAdministrator = useAppState((state) =>
    has(guildPermissions(state, guildId, account.userId), Permission.Administrator),
  );
  const ownRoles = () => store.state.members[guildId]?.[account.userId]?.roles ?? [];
  const setPrivate = (isOn: boolean) => {
    const next = withPrivacy(draft, saved, guildId, entry, isOn);
    const isLetIn =
      isAdministrator || entrants.some((id) => id === account.userId || ownRoles().includes(id));
    onChange(
      isOn && !isLetIn ? withEntrants(next, saved, guildId, entry, [...entrants, account.userId]) : next,
    );
  };
  return (
    <div className="private-fields">
      <Switch
        label={text("channel.private")}
        hint={text("channel.private.hint")}
        isSelected={on}
        isDisabled={isDisabled}
        onChange={setPrivate}
      />
      {on && (
        <Picker
          label={text("channel.private.who")}
          hint={text("channel.private.who.hint")}
          placeholder={text("channel.private.nobody")}
          options={targets.options}
          value={entrants}
          onSearch={targets.onSearch}
          onChange={(ids) => onChange(withEntrants(draft, saved, guildId, entry, ids))}
          isDisabled={isDisabled}
        />
      )}
    </div>
  );
}
