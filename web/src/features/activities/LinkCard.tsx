import { useQuery } from "@tanstack/react-query";

import { getQuickLink, type QuickLink } from "../../api/activities";
import type { Part } from "../../i18n/messages";
import { useText, WithTexts } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { Queries } from "../session/queries";
import { useSession } from "../session/session";
import { requestLaunch, type ActivityLink } from "./launching";
import "./activities.css";

const PARTS: readonly Part[] = ["activities"];

interface LinkCardsProps {
  links: readonly ActivityLink[];
  /** The channel of the message with the links. */
  channelId: string;
  authorId: string;
}

/** Shows what the quick links of a message say, and launches their Activities in its channel. */
export default function LinkCards({ links, ...message }: LinkCardsProps) {
  return (
    <Queries>
      <WithTexts parts={PARTS}>
        {links.map((link) => (
          <LinkCard key={link.linkId} link={link} {...message} />
        ))}
      </WithTexts>
    </Queries>
  );
}

function LinkCard({ link, channelId, authorId }: Omit<LinkCardsProps, "links"> & { link: ActivityLink }) {
  const text = useText();
  const { api } = useSession();
  const { applicationId, customId, linkId } = link;
  const { data: shown = null } = useQuery({
    queryKey: ["quick link", applicationId, linkId],
    queryFn: () => getQuickLink(api, applicationId, linkId).catch(() => null),
    staleTime: Infinity,
  });
  if (shown === null) {
    return null;
  }
  // A link says who referred; one that does not is its author's.
  const referrerId = link.referrerId === "" ? authorId : link.referrerId;
  const custom = customId === "" ? (shown.custom_id ?? "") : customId;
  return (
    <div className="embed activity-card">
      <QuickLinkImage link={shown} />
      <p className="embed-title" dir="auto">
        {shown.title}
      </p>
      <p>{shown.description}</p>
      <Button
        kind="primary"
        onPress={() => requestLaunch({ applicationId, referrerId, customId: custom, channelId })}
      >
        {text("activities.link.play")}
      </Button>
    </div>
  );
}

/** The image of a quick link. The title beside it says what it is of. */
export function QuickLinkImage({ link }: { link: QuickLink }) {
  return (
    <img
      className="activity-media"
      src={`/attachments-quick-links/${link.asset_path}`}
      alt=""
      loading="lazy"
    />
  );
}
