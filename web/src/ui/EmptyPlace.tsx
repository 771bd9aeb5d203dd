import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

interface EmptyPlaceProps {
  icon: LucideIcon;
  title: string;
  /** What the place is for. */
  children: ReactNode;
  /** What can be done next, by those who may. */
  actions?: ReactNode;
}

/** Stands where nothing is yet: what the place is for, and the next act. */
export function EmptyPlace({ icon: Icon, title, children, actions }: EmptyPlaceProps) {
  return (
    <div className="empty-place">
      <span className="empty-icon" aria-hidden="true">
        <Icon size={28} />
      </span>
      <h2>{title}</h2>
      <p>{children}</p>
      {actions && <div className="empty-actions">{actions}</div>}
    </div>
  );
}
