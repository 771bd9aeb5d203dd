import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useState } from "react";

import { listAnnouncements } from "../../api/announcements";
import { useText } from "../../i18n/translate";
import { IconButton } from "../../ui/controls";
import { Queries } from "../session/queries";
import { useSession } from "../session/session";
import { dismissed, dismiss } from "./dismissed";
import "./announcements.css";

/** How long until words of the operators are shown in a client that is open, in milliseconds. */
const REFRESH_MS = 300_000;

/** What the operators tell everyone, above all screens until it ends or is dismissed. */
export function Announcements() {
  return (
    <Queries>
      <Banners />
    </Queries>
  );
}

function Banners() {
  const text = useText();
  const { api, account } = useSession();
  const [gone, setGone] = useState(() => dismissed());
  const { data } = useQuery({
    queryKey: [account.userId, "announcements"],
    queryFn: () => listAnnouncements(api),
    retry: false,
    staleTime: REFRESH_MS,
    refetchInterval: REFRESH_MS,
    refetchOnWindowFocus: true,
  });
  const shown = (data ?? []).filter(({ id }) => !gone.includes(id));
  return (
    <div className="announcements" role="status">
      {shown.map(({ id, content, urgent }) => (
        <p key={id} className={urgent ? "announcement announcement-urgent" : "announcement"}>
          <span dir="auto">{content}</span>
          <IconButton label={text("announcement.dismiss")} onPress={() => setGone(dismiss(id))}>
            <X size={16} />
          </IconButton>
        </p>
      ))}
    </div>
  );
}
