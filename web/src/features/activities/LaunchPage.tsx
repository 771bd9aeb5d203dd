import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { Permission } from "../../api/enums";
import type { Part } from "../../i18n/messages";
import { useText, WithTexts } from "../../i18n/translate";
import { guildIdOf } from "../../store/channels";
import { Button } from "../../ui/controls";
import { requestLaunch } from "./launching";
import { DestinationField } from "./SharingDialogs";
import type { Destination } from "./sharing";
import "../joining/joining.css";
import "./activities.css";

const PARTS: readonly Part[] = ["activities"];

interface LaunchPageProps {
  applicationId: string;
  referrerId: string;
  customId: string;
}

/** Where the link of an Activity leads: the user chooses where to launch it. */
export default function LaunchPage(props: LaunchPageProps) {
  return (
    <WithTexts parts={PARTS}>
      <ChoosePlace {...props} />
    </WithTexts>
  );
}

function ChoosePlace(link: LaunchPageProps) {
  const text = useText();
  const navigate = useNavigate();
  const [destination, setDestination] = useState<Destination | null>(null);
  const launch = ({ channel }: Destination) => {
    requestLaunch({ ...link, channelId: channel.id });
    void navigate({
      to: "/channels/$guildId/$channelId",
      params: { guildId: guildIdOf(channel) ?? "@me", channelId: channel.id },
    });
  };
  return (
    <main id="main" className="page">
      <div className="invite-card activity-open">
        <h1>{text("activities.open.title")}</h1>
        <p>{text("activities.open.about")}</p>
        <DestinationField
          label={text("activities.open.where")}
          needed={Permission.UseEmbeddedActivities}
          onChoose={setDestination}
        />
        <Button
          kind="primary"
          isDisabled={destination === null}
          onPress={() => destination !== null && launch(destination)}
        >
          {text("activities.launch")}
        </Button>
      </div>
    </main>
  );
}
