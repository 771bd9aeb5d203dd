import { useQuery } from "@tanstack/react-query";
import { Navigate, useNavigate, type LinkProps } from "@tanstack/react-router";

import { listServerSettings } from "../../api/admin";
import type { Part } from "../../i18n/messages";
import { useText } from "../../i18n/translate";
import { ErrorNotice } from "../session/ErrorNotice";
import { useAppState, useSession } from "../session/session";
import { SettingsFrame, SettingsScreen, SettingsSkeleton, showsBoth } from "../shell/SettingsFrame";
import { settingsKey } from "./settings";
import { doneSteps, STEPS } from "./steps";
import "./setup.css";

const PARTS: readonly Part[] = ["setup", "admin", "beginning", "settings"];

/** Setting the instance up, step by step; each is saved by itself, so that one can leave and come back. */
export default function Wizard(props: { stepId: string }) {
  return (
    <SettingsScreen parts={PARTS}>
      <Steps {...props} />
    </SettingsScreen>
  );
}

/** What the path names where it names no step: on narrow screens, their list. */
const START = "start";

function linkTo(stepId: string | undefined): LinkProps {
  return { to: "/setup/$stepId", params: { stepId: stepId ?? START } };
}

function Steps({ stepId }: { stepId: string }) {
  const text = useText();
  const navigate = useNavigate();
  const { api, account } = useSession();
  const hasFactor = useAppState((state) => state.user?.mfa_enabled === true);
  const hasGuild = useAppState((state) => Object.keys(state.guilds).length > 0);
  const settings = useQuery({
    queryKey: settingsKey(account.userId),
    queryFn: () => listServerSettings(api),
    retry: false,
  });
  if (settings.data === undefined) {
    return (
      <main id="main" className="main setup-closed" aria-busy={settings.isPending}>
        {settings.isError && (
          <>
            <h1>{text("setup.closed")}</h1>
            <ErrorNotice error={settings.error} />
          </>
        )}
      </main>
    );
  }
  const done = doneSteps(settings.data, { hasFactor, hasGuild });
  const current = STEPS.find(({ id }) => id === stepId) ?? null;
  if (current === null && (showsBoth() || stepId !== START)) {
    const first = STEPS.find(({ id }) => !done.has(id)) ?? STEPS[0];
    return <Navigate {...linkTo(first?.id)} replace />;
  }
  const next = current === null ? undefined : STEPS[STEPS.indexOf(current) + 1];
  const goOn = () => void navigate(next === undefined ? { to: "/app" } : linkTo(next.id));
  return (
    <SettingsFrame
      label={text("setup.title")}
      title={text("setup.title")}
      closeLabel={text("setup.close")}
      onClose={() => void navigate({ to: "/app" })}
      groups={[
        { title: "setup.steps", sections: STEPS.map((step) => ({ ...step, isDone: done.has(step.id) })) },
      ]}
      linkTo={linkTo}
      current={current}
      back={linkTo(undefined)}
      contentKey={current?.id ?? ""}
    >
      {current !== null && (
        <current.View settings={settings.data} onDone={goOn} fallback={<SettingsSkeleton />} />
      )}
    </SettingsFrame>
  );
}
