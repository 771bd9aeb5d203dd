import { useNavigate } from "@tanstack/react-router";
import { Button as AriaButton } from "react-aria-components";

import { useText } from "../../i18n/translate";
import { displayName } from "../../store/selectors";
import { Menu, MenuItem, MenuSeparator } from "../../ui/Menu";
import { Avatar } from "../../ui/controls";
import { avatarUrl } from "../../api/images";
import { customActivities } from "../session/activities";
import { install, useCanInstall } from "../preferences/install";
import { readAccounts } from "../session/accounts";
import { useAppState, useSession } from "../session/session";
import { STATUSES } from "../users/statuses";
import { changeSettings } from "../session/useSettings";
import { activityText } from "../users/presence";
import { rememberScreen } from "./returnPath";

/** The user with their status, which opens a menu to change it and to use another account. */
export function UserMenu() {
  const text = useText();
  const session = useSession();
  const navigate = useNavigate();
  const user = useAppState((state) => state.user);
  const settings = useAppState((state) => state.settings);
  const mayInstall = useCanInstall();
  const name = useAppState((state) => (state.user === null ? "" : displayName(state, state.user, null)));
  const others = readAccounts().filter((each) => each.userId !== session.account.userId);
  const words = activityText(customActivities(settings.custom_status, 0));
  const openStatus = () => {
    rememberScreen();
    void navigate({ to: "/app/settings/{-$sectionId}", params: { sectionId: "status" } });
  };
  const switchTo = (userId: string) => {
    session.switchAccount(userId);
    void navigate({ to: "/app" });
  };
  return (
    <Menu
      label={text("user.menu")}
      trigger={
        <AriaButton className="user-button">
          <span className="presence">
            <Avatar
              url={user === null ? null : avatarUrl(user, 32)}
              name={name}
              size={32}
              hueKey={user?.id}
            />
            <span className={`presence-dot presence-${settings.status}`} />
          </span>
          <span className="user-names">
            <strong dir="auto">{name}</strong>
            <span dir="auto">{words ?? user?.username}</span>
          </span>
          <span className="visually-hidden">{text("user.menu")}</span>
        </AriaButton>
      }
    >
      {STATUSES.map(([status, id]) => (
        <MenuItem
          key={status}
          onAction={() => void changeSettings(session, { status }).catch(() => undefined)}
        >
          <span className={`menu-status presence-dot presence-${status}`} aria-hidden="true" />
          {text(id)}
        </MenuItem>
      ))}
      <MenuItem onAction={openStatus}>{text("user.customStatus")}</MenuItem>
      <MenuSeparator />
      {others.map((each) => (
        <MenuItem key={each.userId} onAction={() => switchTo(each.userId)}>
          {text("user.switchTo", { name: each.name ?? each.userId })}
        </MenuItem>
      ))}
      <MenuItem onAction={() => void navigate({ to: "/app/login" })}>{text("user.addAccount")}</MenuItem>
      {mayInstall && <MenuItem onAction={() => void install()}>{text("user.install")}</MenuItem>}
      <MenuItem danger onAction={() => void session.logOut()}>
        {text("settings.logOut")}
      </MenuItem>
    </Menu>
  );
}
