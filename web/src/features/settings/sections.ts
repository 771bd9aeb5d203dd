import { lazy, type ComponentType, type LazyExoticComponent } from "react";

import type { MessageId } from "../../i18n/messages";

export interface Section {
  /** Its part of the path. */
  id: string;
  title: MessageId;
  View: LazyExoticComponent<ComponentType>;
}

/** The sections of the user's settings, in the order of the list. */
export const GROUPS: readonly { title: MessageId; sections: readonly Section[] }[] = [
  {
    title: "settings.group.you",
    sections: [
      { id: "account", title: "settings.account", View: lazy(() => import("./pages/Account")) },
      { id: "profile", title: "settings.profile", View: lazy(() => import("./pages/Profile")) },
      { id: "status", title: "settings.status", View: lazy(() => import("./pages/StatusPage")) },
      { id: "connections", title: "settings.connections", View: lazy(() => import("./pages/Connections")) },
    ],
  },
  {
    title: "settings.group.safety",
    sections: [
      { id: "privacy", title: "settings.privacy", View: lazy(() => import("./pages/Privacy")) },
      { id: "apps", title: "settings.apps", View: lazy(() => import("./pages/Apps")) },
      { id: "sessions", title: "settings.sessions", View: lazy(() => import("./pages/Sessions")) },
      { id: "data", title: "settings.data", View: lazy(() => import("./pages/Data")) },
    ],
  },
  {
    title: "settings.group.app",
    sections: [
      { id: "appearance", title: "settings.appearance", View: lazy(() => import("./pages/Appearance")) },
      {
        id: "notifications",
        title: "settings.notifications",
        View: lazy(() => import("./pages/Notifications")),
      },
      { id: "keybinds", title: "settings.keybinds", View: lazy(() => import("./pages/Keybinds")) },
    ],
  },
];
