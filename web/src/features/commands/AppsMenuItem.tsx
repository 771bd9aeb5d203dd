import { ChevronRight } from "lucide-react";

import { useText } from "../../i18n/translate";
import { MenuItem, Submenu } from "../../ui/Menu";
import { loaded } from "../../ui/loaded";
import type { AppsMenuProps } from "./AppsMenu";

const AppsMenu = loaded(async () => ({ default: (await import("./AppsMenu")).AppsMenu }));

/** The item of a menu that opens the commands of applications for its user or message. */
export function AppsMenuItem(props: AppsMenuProps) {
  const text = useText();
  return (
    <Submenu
      item={
        <MenuItem textValue={text("command.apps")}>
          <span className="menu-item-text">{text("command.apps")}</span>
          <ChevronRight size={16} aria-hidden="true" />
        </MenuItem>
      }
    >
      <AppsMenu fallback={<p className="apps-empty">{text("app.loading")}</p>} {...props} />
    </Submenu>
  );
}
