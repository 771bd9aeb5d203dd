import { useEffect } from "react";

import { useText } from "../../i18n/translate";
import { useSession } from "../session/session";
import { loadAround, loadNewest } from "./history";
import "./timeline.css";

interface TimelineLoadingProps {
  channelId: string;
  name: string;
  targetId: string | null;
}

/** Stands for the messages of a channel while the code that shows them is loaded, and requests them meanwhile. */
export function TimelineLoading({ channelId, name, targetId }: TimelineLoadingProps) {
  const text = useText();
  const session = useSession();
  useEffect(() => {
    void (
      targetId === null ? loadNewest(session, channelId) : loadAround(session, channelId, targetId)
    ).catch(() => undefined);
  }, [session, channelId, targetId]);
  return (
    <div className="timeline">
      <div
        className="timeline-scroller"
        role="log"
        aria-busy="true"
        aria-label={text("message.list", { name })}
      >
        <TimelineSkeleton />
      </div>
    </div>
  );
}

export function TimelineSkeleton() {
  return (
    <div className="timeline-skeleton" aria-hidden="true">
      {[62, 38, 80, 45, 70, 55].map((width, index) => (
        <div key={index} className="timeline-skeleton-row">
          <span className="skeleton" style={{ width: 40, height: 40 }} />
          <span>
            <span className="skeleton" style={{ width: 120, height: 12 }} />
            <span className="skeleton" style={{ width: `${width}%`, height: 14 }} />
          </span>
        </div>
      ))}
    </div>
  );
}
