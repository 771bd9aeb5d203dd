import { Navigate, useNavigate, type LinkProps } from "@tanstack/react-router";

import type { Part } from "../../i18n/messages";
import { useText } from "../../i18n/translate";
import { SettingsFrame, SettingsScreen, SettingsSkeleton, showsBoth } from "../shell/SettingsFrame";
import { returnPath } from "../shell/returnPath";
import { GROUPS } from "./sections";
import "./settings.css";

const PARTS: readonly Part[] = ["settings"];

/** The user's settings: a list of sections, and the open one. */
export default function Settings(props: { sectionId: string | null }) {
  return (
    <SettingsScreen parts={PARTS}>
      <Frame {...props} />
    </SettingsScreen>
  );
}

function linkTo(sectionId: string | undefined): LinkProps {
  return { to: "/app/settings/{-$sectionId}", params: { sectionId } };
}

function Frame({ sectionId }: { sectionId: string | null }) {
  const text = useText();
  const navigate = useNavigate();
  const current = GROUPS.flatMap((group) => group.sections).find(({ id }) => id === sectionId) ?? null;
  if (current === null && (showsBoth() || sectionId !== null)) {
    return <Navigate {...linkTo("account")} replace />;
  }
  return (
    <SettingsFrame
      label={text("settings.title")}
      title={text("settings.title")}
      closeLabel={text("settings.close")}
      onClose={() => void navigate({ to: returnPath() })}
      groups={GROUPS}
      linkTo={linkTo}
      current={current}
      back={linkTo(undefined)}
      contentKey={current?.id ?? ""}
    >
      {current !== null && (
        <div className="preferences-body">
          <current.View fallback={<SettingsSkeleton />} />
        </div>
      )}
    </SettingsFrame>
  );
}
