import type { ReactNode } from "react";
import {
  Button as AriaButton,
  Tooltip,
  TooltipTrigger,
  type ButtonProps as AriaButtonProps,
} from "react-aria-components";

import { loaded } from "./loaded";

const ModalDialog = loaded(() => import("./ModalDialog"));

type ButtonKind = "plain" | "primary" | "danger" | "quiet";

export function Button({ kind = "plain", ...props }: AriaButtonProps & { kind?: ButtonKind }) {
  return <AriaButton {...props} className={`button button-${kind}`} />;
}

/** The keys that do the same as a control. */
export interface KeyHint {
  /** As the user calls them. */
  names: readonly string[];
  /** As the attribute `aria-keyshortcuts` has them. */
  attribute: string;
}

interface IconButtonProps extends AriaButtonProps {
  label: string;
  keys?: KeyHint | null;
}

/** A button with an icon alone; `label` names it for screen readers and in its tooltip, which shows its keys too. */
export function IconButton({ label, keys = null, ...props }: IconButtonProps) {
  return (
    <TooltipTrigger delay={500}>
      <AriaButton
        {...props}
        aria-label={label}
        className="icon-button"
        {...(keys !== null && {
          render: (button) => <button {...button} aria-keyshortcuts={keys.attribute} />,
        })}
      />
      <Tooltip className="tooltip" offset={6}>
        {label}
        {keys?.names.map((name) => (
          <kbd key={name}>{name}</kbd>
        ))}
      </Tooltip>
    </TooltipTrigger>
  );
}

export interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
}

/** A modal dialog that is open as long as it is rendered. */
export function Dialog(props: DialogProps) {
  return <ModalDialog {...props} />;
}

interface AvatarProps {
  /** Null shows the first letter of the name. */
  url: string | null;
  name: string;
  size: number;
}

/** A decoration beside the name that it belongs to. */
export function Avatar({ url, name, size }: AvatarProps) {
  return (
    <span className="avatar" style={{ width: size, height: size, fontSize: size * 0.42 }} aria-hidden="true">
      {url === null ? initial(name) : <img src={url} alt="" width={size} height={size} loading="lazy" />}
    </span>
  );
}

function initial(name: string): string {
  const [first = "?"] = new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(
    name.trim() || "?",
  );
  return typeof first === "string" ? first : first.segment.toUpperCase();
}
