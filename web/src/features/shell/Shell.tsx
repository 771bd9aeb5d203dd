import { Outlet, useNavigate } from "@tanstack/react-router";
import { Settings as SettingsIcon } from "lucide-react";
import type { ReactNode } from "react";

import { Translate, useText } from "../../i18n/translate";
import { ownActivity } from "../../store/activities";
import { incomingCalls } from "../../store/calls";
import { IconButton } from "../../ui/controls";
import { loaded } from "../../ui/loaded";
import { GuildRail } from "../guilds/GuildRail";
import { LostGuilds } from "../guilds/LostGuilds";
import { RolePreviewBanner } from "../guilds/RolePreviewBanner";
import { InboxButton } from "../inbox/InboxButton";
import { VoiceBar, VoiceCarrier } from "../voice/VoiceBar";
import { useNarrow } from "./useNarrow";
import { useRequestedLaunch } from "../activities/launching";
import { useAppState } from "../session/session";
import { useMuteEnds } from "../notifications/useMuteEnds";
import { useNotifications } from "../notifications/useNotifications";
import { useTitle } from "../notifications/useTitle";
import { rememberScreen } from "./returnPath";
import { Opening } from "./Opening";
import { OverlayHost, type DrawPalette } from "./OverlayHost";
import { UserMenu } from "./UserMenu";
import "./shell.css";

const Announcements = loaded(async () => ({
  default: (await import("../announcements/Announcements")).Announcements,
}));
const RecoveryNotice = loaded(async () => ({ default: (await import("./RecoveryNotice")).RecoveryNotice }));
const IncomingCalls = loaded(() => import("../calls/IncomingCalls"));
const LaunchHost = loaded(() => import("../activities/LaunchHost"));
const ActivityHost = loaded(() => import("../activities/ActivityHost"));
const ModalHost = loaded(async () => ({ default: (await import("../components/ModalHost")).ModalHost }));

/** The frame of all screens of a logged-in user: guilds, a sidebar and the main part. */
export function Shell({ drawPalette }: { drawPalette: DrawPalette }) {
  const ready = useAppState((state) => state.ready);
  const status = useAppState((state) => state.status);
  const hasActivity = useAppState((state) => ownActivity(state) !== null);
  const isCalled = useAppState((state) => incomingCalls(state).length > 0);
  const launch = useRequestedLaunch();
  const hasModal = useAppState((state) => state.modal !== null);
  useNotifications();
  useMuteEnds();
  useTitle();
  return (
    <div className="shell-frame">
      {ready && <Announcements />}
      <div className="shell">
        <a className="skip" href="#main">
          <Translate id="app.skip" />
        </a>
        {status !== "connected" && ready && (
          <p className="shell-status" role="status">
            <Translate id={status === "waiting" ? "app.offline" : "app.reconnecting"} />
          </p>
        )}
        {ready && <RecoveryNotice />}
        <RolePreviewBanner />
        <LostGuilds />
        <GuildRail />
        {ready ? <Outlet /> : <Opening />}
        {hasActivity && <ActivityHost />}
        {launch !== null && <LaunchHost launch={launch} />}
        {ready && <OverlayHost drawPalette={drawPalette} />}
        {ready && <VoiceCarrier />}
        {isCalled && <IncomingCalls />}
        {hasModal && <ModalHost />}
      </div>
    </div>
  );
}

interface PaneProps {
  /** The name of the sidebar for screen readers. */
  label: string;
  sidebar: ReactNode;
  /** On narrow screens either the sidebar or the main part is shown. */
  showsMain: boolean;
  children: ReactNode;
}

/** A sidebar beside a main part. */
export function Panes({ label, sidebar, showsMain, children }: PaneProps) {
  const isHidden = useNarrow() && showsMain;
  return (
    <div className={showsMain ? "panes panes-main" : "panes"}>
      {isHidden && <VoiceBar />}
      <section className="sidebar" aria-label={label}>
        {sidebar}
        {!isHidden && <VoiceBar />}
        <UserPanel />
      </section>
      {children}
    </div>
  );
}

function UserPanel() {
  const text = useText();
  const navigate = useNavigate();
  return (
    <div className="user-panel">
      <UserMenu />
      <InboxButton />
      <IconButton
        label={text("settings.title")}
        onPress={() => {
          rememberScreen();
          void navigate({ to: "/app/settings/{-$sectionId}", params: { sectionId: undefined } });
        }}
      >
        <SettingsIcon size={18} />
      </IconButton>
    </div>
  );
}
