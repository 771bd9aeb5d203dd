import { Link } from "@tanstack/react-router";
import { ShieldAlert } from "lucide-react";

import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { WithChannelTexts } from "../../i18n/WithChannelTexts";
import { passAgeGate } from "./ageGate";

interface AgeGateProps {
  guildId: string | null;
  onPass: () => void;
}

/** Stands before the messages of a channel for adults until the user says that they are one. */
export default function AgeGate(props: AgeGateProps) {
  return (
    <WithChannelTexts>
      <Question {...props} />
    </WithChannelTexts>
  );
}

function Question({ guildId, onPass }: AgeGateProps) {
  const text = useText();
  return (
    <div className="age-gate">
      <ShieldAlert size={40} aria-hidden="true" />
      <h2>{text("channel.nsfw")}</h2>
      <p>{text("channel.nsfw.question")}</p>
      <div className="dialog-actions">
        <Link className="button button-plain" to="/channels/@me">
          {text("channel.nsfw.leave")}
        </Link>
        <Button
          kind="primary"
          onPress={() => {
            passAgeGate(guildId);
            onPass();
          }}
        >
          {text("channel.nsfw.enter")}
        </Button>
      </div>
    </div>
  );
}
