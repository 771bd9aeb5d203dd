import { Translate, useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { useAppState, useSession } from "../session/session";

/** While the user previews a guild with other roles: says so, and ends it. */
export function RolePreviewBanner() {
  const text = useText();
  const { store } = useSession();
  const preview = useAppState((state) => state.rolePreview);
  const guild = useAppState((state) => (preview === null ? undefined : state.guilds[preview.guildId]));
  if (preview === null || guild === undefined) {
    return null;
  }
  const roles = preview.roleIds.map((id) => guild.roles[id]?.name ?? "").join(", ") || "@everyone";
  return (
    <div className="preview-banner" role="status">
      <span>
        <Translate id="guild.preview" values={{ guild: guild.name, roles: <strong>{roles}</strong> }} />
      </span>
      <Button onPress={() => store.update((state) => ({ ...state, rolePreview: null }))}>
        {text("guild.preview.end")}
      </Button>
    </div>
  );
}
