import { orderedRoles } from "../../store/ranks";
import type { GuildState } from "../../store/state";
import type { PickerOption } from "../../ui/Picker";

/** The roles that can be chosen somewhere, without @everyone. */
export function roleOptions(guild: GuildState): PickerOption[] {
  return orderedRoles(guild)
    .filter((role) => role.id !== guild.id)
    .map(({ id, name }) => ({ id, name: `@${name}` }));
}
