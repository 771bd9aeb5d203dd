import type { MouseEvent, ReactNode } from "react";

import { setOverlays } from "../overlays/overlays";
import { useSession } from "../session/session";
import { isTrusted } from "./trusted";

const MIDDLE_BUTTON = 1;

interface ExternalLinkProps {
  /** An address that `safeUrl` has let through. */
  url: string;
  className?: string | undefined;
  label?: string | undefined;
  children: ReactNode;
}

/** A link that somebody has written. It opens beside this page, once the user has confirmed its host. */
export function ExternalLink({ url, className, label, children }: ExternalLinkProps) {
  const { account } = useSession();
  const ask = (event: MouseEvent) => {
    if (!isTrusted(account.userId, new URL(url))) {
      event.preventDefault();
      setOverlays({ link: url });
    }
  };
  return (
    <a
      className={className}
      href={url}
      target="_blank"
      rel="noopener noreferrer nofollow"
      title={url}
      aria-label={label}
      onClick={ask}
      onAuxClick={(event) => event.button === MIDDLE_BUTTON && ask(event)}
    >
      {children}
    </a>
  );
}
