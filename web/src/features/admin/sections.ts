import type { OperatorPermission } from "../../api/admin";
import type { MessageId } from "../../i18n/messages";
import { loaded, type LoadedComponent } from "../../ui/loaded";

export interface Section {
  /** Its part of the path. */
  id: string;
  title: MessageId;
  /** The permission that its operator needs, or one of several; null for all operators. */
  permission: OperatorPermission | readonly OperatorPermission[] | null;
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
    id: "applications",
    title: "admin.applications",
    permission: "applications",
    View: loaded(() => import("./Applications")),
  },
  {
    id: "announcements",
    title: "admin.announcements",
    permission: "announcements",
    View: loaded(() => import("./Announcements")),
  },
  {
    id: "storage",
    title: "admin.storage",
    permission: ["guilds", "users"],
    View: loaded(() => import("./StoragePage")),
  },
  {
    id: "retention",
    title: "admin.retention",
    permission: "retention",
    View: loaded(() => import("./Retention")),
  },
  { id: "jobs", title: "admin.jobs", permission: "jobs", View: loaded(() => import("./Jobs")) },
  { id: "mails", title: "admin.mails", permission: "users", View: loaded(() => import("./Mails")) },
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
