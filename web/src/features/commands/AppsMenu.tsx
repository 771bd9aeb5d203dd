import { Menu, MenuItem } from "react-aria-components";

import { appIconUrl } from "../../api/images";
import { useText } from "../../i18n/translate";
import { Avatar } from "../../ui/controls";
import { useSession } from "../session/session";
import { useCommandIndex } from "./commandIndex";
import { contextCommands, nameOf } from "./options";
import { runOnTarget } from "./sending";
import "./commands.css";

export interface AppsMenuProps {
  channelId: string;
  /** The type of the commands: for users, or for messages. */
  type: number;
  targetId: string;
}

/** The commands of applications for a user or a message. */
export function AppsMenu({ channelId, type, targetId }: AppsMenuProps) {
  const text = useText();
  const session = useSession();
  const { index, failed } = useCommandIndex(channelId, true);
  const commands = index === null ? [] : contextCommands(index, type);
  const empty = failed ? "command.list.failed" : index === null ? "app.loading" : "command.apps.none";
  return (
    <Menu
      className="menu"
      aria-label={text("command.apps")}
      renderEmptyState={() => <p className="apps-empty">{text(empty)}</p>}
    >
      {commands.map(({ command, application }) => (
        <MenuItem
          key={command.id}
          id={command.id}
          textValue={nameOf(command)}
          className="menu-item"
          onAction={() => void runOnTarget(session, channelId, command, application.name, targetId)}
        >
          <Avatar
            url={appIconUrl(application.id, application.icon, 20)}
            name={application.name}
            size={20}
            tile
          />
          <span>{nameOf(command)}</span>
          <span className="field-hint">{application.name}</span>
        </MenuItem>
      ))}
    </Menu>
  );
}
