import type { CSSProperties } from "react";
import {
  Button as AriaButton,
  Tooltip,
  TooltipTrigger,
  type ButtonProps as AriaButtonProps,
} from "react-aria-components";

import { hueOf, initials } from "./hues";

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

interface AvatarProps {
  /** Null shows the initials of the name on a hue. */
  url: string | null;
  name: string;
  size: number;
  /** What the hue is of: the id of a user. Without one, it is of the name. */
  hueKey?: string | undefined;
  /** People are round; guilds, groups and apps are tiles. */
  tile?: boolean;
}

/** A decoration beside the name that it belongs to. */
export function Avatar({ url, name, size, hueKey = name, tile = false }: AvatarProps) {
  return (
    <span
      className={tile ? "avatar avatar-tile" : "avatar"}
      data-hue={url === null ? hueOf(hueKey) : undefined}
      style={{ "--avatar-size": `${size}px` } as CSSProperties}
      aria-hidden="true"
    >
      {url === null ? (
        initials(name, tile ? 2 : 1)
      ) : (
        <img src={url} alt="" width={size} height={size} loading="lazy" />
      )}
    </span>
  );
}
