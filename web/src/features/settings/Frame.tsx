import { Link, Navigate, useNavigate } from "@tanstack/react-router";
import { ArrowLeft, X } from "lucide-react";
import { Suspense } from "react";

import type { Part } from "../../i18n/messages";
import { useText, WithTexts } from "../../i18n/translate";
import { IconButton } from "../../ui/controls";
import { Queries } from "../session/queries";
import { Panes } from "../shell/Shell";
import { returnPath } from "./links";
import { GROUPS } from "./sections";
import "./settings.css";

const PARTS: readonly Part[] = ["settings"];

/** The user's settings: a list of sections, and the open one. */
export default function Settings({ sectionId }: { sectionId: string | null }) {
  return (
    <WithTexts parts={PARTS} fallback={<main id="main" className="main" aria-busy="true" />}>
      <Queries>
        <Frame sectionId={sectionId} />
      </Queries>
    </WithTexts>
  );
}

function Frame({ sectionId }: { sectionId: string | null }) {
  const text = useText();
  const navigate = useNavigate();
  const sections = GROUPS.flatMap((group) => group.sections);
  const current = sections.find(({ id }) => id === sectionId) ?? null;
  const isWide = matchMedia("(min-width: 720px)").matches;
  if (current === null && (isWide || sectionId !== null)) {
    return <Navigate to="/app/settings/{-$sectionId}" params={{ sectionId: "account" }} replace />;
  }
  const list = (
    <>
      <div className="sidebar-header">
        <strong className="sidebar-title">{text("settings.title")}</strong>
        <IconButton label={text("settings.close")} onPress={() => void navigate({ to: returnPath() })}>
          <X size={18} />
        </IconButton>
      </div>
      <nav className="channels" aria-label={text("settings.title")}>
        {GROUPS.map((group) => (
          <section key={group.title}>
            <h2 className="preferences-group">{text(group.title)}</h2>
            <ul>
              {group.sections.map((section) => (
                <li key={section.id}>
                  <Link
                    to="/app/settings/{-$sectionId}"
                    params={{ sectionId: section.id }}
                    className="channel-row"
                  >
                    {text(section.title)}
                  </Link>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </nav>
    </>
  );
  return (
    <Panes label={text("settings.title")} sidebar={list} showsMain={current !== null}>
      <main id="main" className="main">
        {current !== null && (
          <>
            <span className="back">
              <IconButton
                label={text("common.back")}
                onPress={() =>
                  void navigate({ to: "/app/settings/{-$sectionId}", params: { sectionId: undefined } })
                }
              >
                <ArrowLeft size={20} />
              </IconButton>
            </span>
            <header className="channel-header">
              <h1>{text(current.title)}</h1>
            </header>
            <div className="preferences-scroll">
              <div className="preferences-body" key={current.id}>
                <Suspense fallback={<div className="skeleton preferences-skeleton" aria-hidden="true" />}>
                  <current.View />
                </Suspense>
              </div>
            </div>
          </>
        )}
      </main>
    </Panes>
  );
}
