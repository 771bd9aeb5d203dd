import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { TextField } from "../../ui/TextField";
import { readDraft, writeDraft } from "../composer/drafts";
import { ChannelField, type ChosenChannel } from "../switcher/ChannelField";
import { maySend } from "./forwarding";
import { sharedText, type Shared } from "./sharedText";
import "../joining/joining.css";

/** Where other apps of the device share a text or a link to: the user chooses a channel, whose composer then has it. */
export default function SharePage({ shared }: { shared: Shared }) {
  const text = useText();
  const navigate = useNavigate();
  const [content, setContent] = useState(() => sharedText(shared));
  const [channel, setChannel] = useState<ChosenChannel | null>(null);
  const go = (target: ChosenChannel) => {
    const before = readDraft(target.id);
    writeDraft(target.id, before === "" ? content : `${before}\n${content}`);
    void navigate({
      to: "/channels/$guildId/$channelId",
      params: { guildId: target.guildId ?? "@me", channelId: target.id },
      replace: true,
    });
  };
  return (
    <main id="main" className="page">
      <div className="invite-card activity-open">
        <h1>{text("share.title")}</h1>
        <TextField label={text("share.text")} value={content} onChange={setContent} multiline />
        <ChannelField label={text("share.where")} value={channel} onChange={setChannel} keep={maySend} />
        <Button
          kind="primary"
          isDisabled={channel === null || content.trim() === ""}
          onPress={() => channel !== null && go(channel)}
        >
          {text("share.continue")}
        </Button>
      </div>
    </main>
  );
}
