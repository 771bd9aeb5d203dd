import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { getQuickLink } from "../../api/activities";
import { Permission } from "../../api/enums";
import type { Part } from "../../i18n/messages";
import { useText, WithTexts } from "../../i18n/translate";
import { guildIdOf } from "../../store/channels";
import { Button } from "../../ui/controls";
import { Queries } from "../session/queries";
import { useSession } from "../session/session";
import { requestLaunch, type ActivityLink } from "./launching";
import { QuickLinkImage } from "./LinkCard";
import { DestinationField } from "./SharingDialogs";
import type { Destination } from "./sharing";
import "../joining/joining.css";
import "./activities.css";

const PARTS: readonly Part[] = ["activities"];

/** Where the link of an Activity leads: the user chooses where to launch it. */
export default function LaunchPage(props: ActivityLink) {
  return (
    <Queries>
      <WithTexts parts={PARTS}>
        <ChoosePlace {...props} />
      </WithTexts>
    </Queries>
  );
}

function ChoosePlace({ applicationId, referrerId, customId, linkId }: ActivityLink) {
  const text = useText();
  const { api } = useSession();
  const navigate = useNavigate();
  const [destination, setDestination] = useState<Destination | null>(null);
  const quickLink = useQuery({
    queryKey: ["quick link", applicationId, linkId],
    queryFn: () => getQuickLink(api, applicationId, linkId).catch(() => null),
    enabled: linkId !== "",
    staleTime: Infinity,
  });
  const shown = quickLink.data ?? null;
  const launch = ({ channel }: Destination) => {
    const custom = customId === "" ? (shown?.custom_id ?? "") : customId;
    requestLaunch({ applicationId, referrerId, customId: custom, channelId: channel.id });
    void navigate({
      to: "/channels/$guildId/$channelId",
      params: { guildId: guildIdOf(channel) ?? "@me", channelId: channel.id },
    });
  };
  return (
    <main id="main" className="page">
      <div className="invite-card activity-open">
        {shown !== null && <QuickLinkImage link={shown} />}
        <h1>{shown?.title ?? text("activities.open.title")}</h1>
        {shown !== null && <p>{shown.description}</p>}
        <p>{text("activities.open.about")}</p>
        <DestinationField
          label={text("activities.open.where")}
          needed={Permission.UseEmbeddedActivities}
          onChoose={setDestination}
        />
        <Button
          kind="primary"
          isDisabled={destination === null || (linkId !== "" && quickLink.isPending)}
          onPress={() => destination !== null && launch(destination)}
        >
          {text("activities.launch")}
        </Button>
      </div>
    </main>
  );
}
