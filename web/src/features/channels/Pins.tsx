import { useQuery } from "@tanstack/react-query";

import { avatarUrl } from "../../api/images";
import { getPins } from "../../api/messages";
import { Translate } from "../../i18n/translate";
import { Avatar } from "../../ui/controls";
import { Attachments } from "../messages/Attachments";
import { Content } from "../messages/Content";
import { Queries } from "../session/queries";
import { useSession } from "../session/session";
import { useErrorText } from "../session/useAction";

export function Pins({ channelId, guildId }: { channelId: string; guildId: string | null }) {
  return (
    <Queries>
      <PinList channelId={channelId} guildId={guildId} />
    </Queries>
  );
}

function PinList({ channelId, guildId }: { channelId: string; guildId: string | null }) {
  const { api } = useSession();
  const errorText = useErrorText();
  const pins = useQuery({
    queryKey: ["pins", channelId],
    queryFn: () => getPins(api, channelId),
    staleTime: 0,
  });
  if (pins.isPending) {
    return <Translate id="app.loading" />;
  }
  if (pins.isError) {
    return <p role="alert">{errorText(pins.error)}</p>;
  }
  if (pins.data.items.length === 0) {
    return (
      <p>
        <Translate id="channel.pins.none" />
      </p>
    );
  }
  return (
    <ul className="pins">
      {pins.data.items.map(({ message }) => (
        <li key={message.id}>
          <Avatar url={avatarUrl(message.author, 32)} name={message.author.username} size={32} />
          <div>
            <strong>{message.author.global_name ?? message.author.username}</strong>
            <Content content={message.content} guildId={guildId} />
            <Attachments attachments={message.attachments} />
          </div>
        </li>
      ))}
    </ul>
  );
}
