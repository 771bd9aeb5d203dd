import { Link, useNavigate, type LinkProps } from "@tanstack/react-router";
import { ArrowLeft, Check, X } from "lucide-react";
import type { ReactNode } from "react";

import type { MessageId, Part } from "../../i18n/messages";
import { useText, WithTexts } from "../../i18n/translate";
import { IconButton } from "../../ui/controls";
import { Queries } from "../session/queries";
import { Panes } from "./Shell";
import "./settings_frame.css";

interface Section {
  id: string;
  title: MessageId;
  /** Whether there is nothing left to do in it. */
  isDone?: boolean;
}

interface SettingsFrameProps {
  /** The name of the list for screen readers. */
  label: string;
  title: ReactNode;
  closeLabel: string;
  onClose: () => void;
  groups: readonly { title: MessageId; sections: readonly Section[] }[];
  /** What the list says without any section. */
  none?: string;
  /** Where a section is; without an id, the list of sections. */
  linkTo: (sectionId: string | undefined) => LinkProps;
  /** The open section: none on narrow screens that show the list. */
  current: Section | null;
  /** Where the way back leads to from within the section. */
  back: LinkProps;
  /** The content of the open section, which starts anew where this changes. */
  contentKey: string;
  children: ReactNode;
}

/** Settings: a list of sections, and the open one beside it. */
export function SettingsFrame(props: SettingsFrameProps) {
  const { label, groups, linkTo, current, back } = props;
  const text = useText();
  const navigate = useNavigate();
  const list = (
    <>
      <div className="sidebar-header">
        <strong className="sidebar-title">
          <span dir="auto">{props.title}</span>
        </strong>
        <IconButton label={props.closeLabel} onPress={props.onClose}>
          <X size={18} />
        </IconButton>
      </div>
      <nav className="channels" aria-label={label}>
        {groups.length === 0 && <p className="channel-empty">{props.none}</p>}
        {groups.map((group) => (
          <section key={group.title}>
            <h2 className="settings-group">{text(group.title)}</h2>
            <ul>
              {group.sections.map((section) => (
                <li key={section.id}>
                  <Link {...linkTo(section.id)} className="channel-row">
                    {text(section.title)}
                    {section.isDone === true && (
                      <Check size={16} role="img" aria-label={text("common.done")} />
                    )}
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
    <Panes label={label} sidebar={list} showsMain={current !== null}>
      <main id="main" className="main">
        {current !== null && (
          <>
            <span className="back">
              <IconButton label={text("common.back")} onPress={() => void navigate(back)}>
                <ArrowLeft size={20} />
              </IconButton>
            </span>
            <header className="channel-header">
              <h1>{text(current.title)}</h1>
            </header>
            <div className="settings-scroll">
              <div className="settings-body" key={props.contentKey}>
                {props.children}
              </div>
            </div>
          </>
        )}
      </main>
    </Panes>
  );
}

/** Loads what screens of settings need: their texts, and the cache of their requests. */
export function SettingsScreen({ parts, children }: { parts: readonly Part[]; children: ReactNode }) {
  return (
    <WithTexts parts={parts} fallback={<main id="main" className="main" aria-busy="true" />}>
      <Queries>{children}</Queries>
    </WithTexts>
  );
}

/** Whether the list of sections and a section fit beside each other, so that one is always open. */
export function showsBoth(): boolean {
  return matchMedia("(min-width: 720px)").matches;
}

/** What shows until the code of a section is there. */
export function SettingsSkeleton() {
  return <div className="skeleton settings-skeleton" aria-hidden="true" />;
}
