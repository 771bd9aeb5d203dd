import { useRef, useState } from "react";

import { ChannelIcon } from "../features/channels/ChannelIcon";
import { ModalHost } from "../features/components/ModalHost";
import Timeline from "../features/messages/Timeline";
import { Typing } from "../features/messages/Typing";
import { useAppState } from "../features/session/session";
import { guildIdOf } from "../store/channels";
import { channelName } from "../store/selectors";
import { Button } from "../ui/controls";

interface ChannelProps {
  /** The channel to show; null where the test names none. */
  channelId: string | null;
  /** Who looks. */
  viewer: string;
}

const nothing = () => undefined;

/** A channel as the client draws it, without what would ask its server. */
export function Channel({ channelId, viewer }: ChannelProps) {
  const channel = useAppState((state) => (channelId === null ? undefined : state.channels[channelId]));
  const name = useAppState((state) => (channel === undefined ? "" : channelName(state, channel)));
  const jumpRef = useRef<((messageId: string) => void) | null>(null);
  if (channel === undefined) {
    return (
      <p className="trace-empty">
        {channelId === null ? "No channel yet." : `${viewer} does not see this channel.`}
      </p>
    );
  }
  const guildId = guildIdOf(channel);
  return (
    <div className="conversation">
      <header className="channel-header">
        <ChannelIcon type={channel.type} />
        <h2 className="channel-title" dir="auto">
          {name}
        </h2>
      </header>
      <Timeline
        key={channel.id}
        channelId={channel.id}
        guildId={guildId}
        name={name}
        targetId={null}
        jumpRef={jumpRef}
        editingId={null}
        onEdit={nothing}
        onReply={nothing}
        selected={null}
        onSelect={null}
      />
      <Typing channelId={channel.id} guildId={guildId} />
      <OpenModal />
    </div>
  );
}

/** The modal that the person is to fill in: opened by a button, as it covers the page. */
function OpenModal() {
  const modal = useAppState((state) => state.modal);
  const [openId, setOpenId] = useState<string | null>(null);
  if (modal === null) {
    return null;
  }
  return openId === modal.id ? (
    <ModalHost />
  ) : (
    <p className="trace-modal">
      <Button onPress={() => setOpenId(modal.id)}>Show the modal: {modal.title}</Button>
    </p>
  );
}
