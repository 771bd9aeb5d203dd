import { ArrowLeft, X } from "lucide-react";
import { useEffect, useRef, type KeyboardEvent, type ReactNode } from "react";

import { useText } from "../../i18n/translate";
import { IconButton } from "../../ui/controls";
import { closePanel, takesFocus, usePanelAlone } from "./panels";
import "./side_panel.css";

interface SidePanelProps {
  title: string;
  /** The name of its button that closes it. */
  closeLabel?: string;
  className?: string;
  children: ReactNode;
}

/** A panel beside the channel, which makes room for it; on narrow screens it has all of it, and a way back. */
export function SidePanel({ title, closeLabel, className, children }: SidePanelProps) {
  const panel = useRef<HTMLDivElement>(null);
  const role = usePanelAlone() ? "main" : "complementary";
  useEffect(() => {
    if (takesFocus()) {
      panel.current?.querySelector<HTMLElement>("input, .side-panel-body")?.focus();
    }
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && !event.defaultPrevented) {
      event.preventDefault();
      closePanel();
    }
  };
  return (
    // Escape is another way to press the button that closes it.
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions
    <div
      role={role}
      ref={panel}
      className={className === undefined ? "side-panel" : `side-panel ${className}`}
      aria-label={title}
      onKeyDown={onKeyDown}
    >
      <PanelHeader title={title} closeLabel={closeLabel} onClose={closePanel} />
      {children}
    </div>
  );
}

interface PanelHeaderProps {
  title: string;
  closeLabel?: string | undefined;
  onClose: () => void;
}

/** The title of a panel, and what closes it: on narrow screens the way back stands before the title. */
export function PanelHeader({ title, closeLabel, onClose }: PanelHeaderProps) {
  const text = useText();
  const Title = usePanelAlone() ? "h1" : "h2";
  return (
    <div className="side-panel-header">
      <Title className="side-panel-title">{title}</Title>
      <span className="side-panel-close">
        <IconButton label={closeLabel ?? text("common.close")} onPress={onClose}>
          <X size={18} className="side-panel-wide" />
          <ArrowLeft size={20} className="side-panel-narrow" />
        </IconButton>
      </span>
    </div>
  );
}

/** The part of a panel that scrolls. */
export function SidePanelBody({ children }: { children: ReactNode }) {
  return (
    <div className="side-panel-body" tabIndex={-1}>
      {children}
    </div>
  );
}
