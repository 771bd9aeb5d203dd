import { Link } from "@tanstack/react-router";

import type { MessageId } from "../../i18n/messages";
import { Translate, useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import type { ChosenChannel } from "./ChannelField";

interface ChannelDoneProps {
  /** A text with the name of the channel. */
  id: MessageId;
  target: ChosenChannel;
  onClose: () => void;
}

/** The end of a dialog that has done something in a chosen channel, with the way there. */
export function ChannelDone({ id, target, onClose }: ChannelDoneProps) {
  const text = useText();
  const params = { guildId: target.guildId ?? "@me", channelId: target.id };
  return (
    <div className="stack">
      <p role="status">
        <Translate
          id={id}
          values={{ name: target.name, b: (chunks) => <strong key="name">{chunks}</strong> }}
        />
      </p>
      <div className="dialog-actions">
        <Link
          to={target.guildId === null ? "/channels/@me/$channelId" : "/channels/$guildId/$channelId"}
          params={params}
          className="button button-plain"
          onClick={onClose}
        >
          {text("messageActions.channel.open")}
        </Link>
        <Button kind="primary" autoFocus onPress={onClose}>
          {text("common.close")}
        </Button>
      </div>
    </div>
  );
}
