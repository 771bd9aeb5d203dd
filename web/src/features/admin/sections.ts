import type { OperatorPermission } from "../../api/admin";
import type { MessageId } from "../../i18n/messages";
import { loaded, type LoadedComponent } from "../../ui/loaded";

export interface Section {
  /** Its part of the path. */
  id: string;
  title: MessageId;
  /** The permission that its operator needs; null for all operators. */
  permission: OperatorPermission | null;
  View: LoadedComponent<object>;
}

/** The pages of operators, in the order of the list. */
export const SECTIONS: readonly Section[] = [
  { id: "overview", title: "admin.overview", permission: null, View: loaded(() => import("./Overview")) },
  { id: "users", title: "admin.users", permission: "users", View: loaded(() => import("./Users")) },
  { id: "guilds", title: "admin.guilds", permission: "guilds", View: loaded(() => import("./Guilds")) },
  {
    id: "reports",
    title: "admin.reports",
    permission: "reports",
    View: loaded(() => import("./Reports")),
  },
  {
    id: "settings",
    title: "admin.settings",
    permission: "settings",
    View: loaded(() => import("./Settings")),
  },
  {
    id: "login",
    title: "admin.login",
    permission: "settings",
    View: loaded(() => import("./Providers")),
  },
  { id: "log", title: "admin.log", permission: "log", View: loaded(() => import("./Log")) },
];
