import type { MessageId } from "../../i18n/messages";
import { loaded, type LoadedComponent } from "../../ui/loaded";

export interface Section {
  /** Its part of the path. */
  id: string;
  title: MessageId;
  View: LoadedComponent<object>;
}

/** The sections of the user's settings, in the order of the list. */
export const GROUPS: readonly { title: MessageId; sections: readonly Section[] }[] = [
  {
    title: "settings.group.you",
    sections: [
      { id: "account", title: "settings.account", View: loaded(() => import("./pages/Account")) },
      { id: "profile", title: "settings.profile", View: loaded(() => import("./pages/Profile")) },
      { id: "status", title: "settings.status", View: loaded(() => import("./pages/StatusPage")) },
      { id: "connections", title: "settings.connections", View: loaded(() => import("./pages/Connections")) },
    ],
  },
  {
    title: "settings.group.safety",
    sections: [
      { id: "privacy", title: "settings.privacy", View: loaded(() => import("./pages/Privacy")) },
      { id: "apps", title: "settings.apps", View: loaded(() => import("./pages/Apps")) },
      { id: "sessions", title: "settings.sessions", View: loaded(() => import("./pages/Sessions")) },
      { id: "data", title: "settings.data", View: loaded(() => import("./pages/Data")) },
    ],
  },
  {
    title: "settings.group.app",
    sections: [
      { id: "appearance", title: "settings.appearance", View: loaded(() => import("./pages/Appearance")) },
      {
        id: "notifications",
        title: "settings.notifications",
        View: loaded(() => import("./pages/Notifications")),
      },
      { id: "voice", title: "settings.voice", View: loaded(() => import("./pages/Voice")) },
      { id: "keybinds", title: "settings.keybinds", View: loaded(() => import("./pages/Keybinds")) },
    ],
  },
];
