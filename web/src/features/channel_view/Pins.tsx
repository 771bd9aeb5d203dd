import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { APIMessage } from "discord-api-types/v10";
import { PinOff } from "lucide-react";
import { useEffect } from "react";
import { FormattedDate } from "react-intl";

import { Permission } from "../../api/enums";
import { getPins, setPinned, type PinnedMessages } from "../../api/messages";
import { Translate, useText } from "../../i18n/translate";
import { has } from "../../store/permissions";
import { displayName } from "../../store/selectors";
import { Button, IconButton } from "../../ui/controls";
import { MemberAvatar } from "../users/MemberAvatar";
import { Attachments } from "../attachments/Attachments";
import { Content } from "../content/Content";
import { Guarded } from "../content/Undrawable";
import { Embeds } from "../content/Embeds";
import { leavePanel } from "../overlays/panels";
import { SidePanel, SidePanelBody } from "../overlays/SidePanel";
import { ErrorNotice } from "../session/ErrorNotice";
import { Queries } from "../session/queries";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { useChannelPermissions } from "../session/usePermissions";

interface PinsProps {
  channelId: string;
  guildId: string | null;
}

/** The pinned messages of a channel, beside it. */
export default function Pins(props: PinsProps) {
  const text = useText();
  return (
    <SidePanel title={text("channel.pins")}>
      <SidePanelBody>
        <Queries>
          <PinList {...props} />
        </Queries>
      </SidePanelBody>
    </SidePanel>
  );
}

function PinList({ channelId, guildId }: PinsProps) {
  const text = useText();
  const { api } = useSession();
  const pins = useInfiniteQuery({
    queryKey: ["pins", channelId],
    queryFn: ({ pageParam }: { pageParam: string | undefined }) => getPins(api, channelId, pageParam),
    initialPageParam: undefined,
    getNextPageParam: (page: PinnedMessages) => (page.has_more ? page.items.at(-1)?.pinned_at : undefined),
    staleTime: 0,
  });
  usePinUpdates(channelId);
  if (pins.isPending) {
    return <Translate id="app.loading" />;
  }
  if (pins.isError) {
    return <ErrorNotice error={pins.error} />;
  }
  const items = pins.data.pages.flatMap((page) => page.items);
  if (items.length === 0) {
    return (
      <p>
        <Translate id="channel.pins.none" />
      </p>
    );
  }
  return (
    <>
      <ul className="pins">
        {items.map(({ message }) => (
          <PinItem key={message.id} message={message} guildId={guildId} />
        ))}
      </ul>
      {pins.hasNextPage && (
        <Button isDisabled={pins.isFetchingNextPage} onPress={() => void pins.fetchNextPage()}>
          {text("reactors.more")}
        </Button>
      )}
    </>
  );
}

/** Load the pinned messages of a channel again whenever they change. */
function usePinUpdates(channelId: string): void {
  const { store } = useSession();
  const client = useQueryClient();
  useEffect(
    () =>
      store.observe((name, data) => {
        if (name === "CHANNEL_PINS_UPDATE" && (data as { channel_id: string }).channel_id === channelId) {
          void client.invalidateQueries({ queryKey: ["pins", channelId] });
        }
      }),
    [store, client, channelId],
  );
}

interface PinItemProps {
  message: APIMessage;
  guildId: string | null;
}

function PinItem({ message, guildId }: PinItemProps) {
  const text = useText();
  const { api } = useSession();
  const client = useQueryClient();
  const action = useAction();
  const { channel_id: channelId, id } = message;
  const name = useAppState((state) => displayName(state, message.author, guildId));
  const permissions = useChannelPermissions(useAppState((state) => state.channels[channelId]));
  const mayPin = has(permissions, Permission.ManageMessages) || has(permissions, Permission.PinMessages);
  const unpin = async () => {
    await setPinned(api, channelId, id, false);
    await client.invalidateQueries({ queryKey: ["pins", channelId] });
  };
  return (
    <li>
      <MemberAvatar user={message.author} guildId={guildId} name={name} size={32} />
      <div className="pin-body">
        <p className="pin-header">
          <strong>{name}</strong>
          <time className="message-time" dateTime={message.timestamp}>
            <FormattedDate value={message.timestamp} dateStyle="short" timeStyle="short" />
          </time>
        </p>
        {/* Whatever it holds, it can be unpinned. */}
        <Guarded>
          <Content content={message.content} guildId={guildId} />
          <Attachments attachments={message.attachments} stickers={message.sticker_items} />
          <Embeds embeds={message.embeds} guildId={guildId} content={message.content} />
        </Guarded>
        <ErrorNotice error={action.error} />
      </div>
      <span className="pin-actions">
        <Link
          className="button button-quiet"
          to="/channels/$guildId/$channelId/$messageId"
          params={{ guildId: guildId ?? "@me", channelId, messageId: id }}
          onClick={leavePanel}
        >
          {text("search.jump")}
        </Link>
        {mayPin && (
          <IconButton
            label={text("message.unpin")}
            isDisabled={action.pending}
            onPress={() => void action.run(unpin)}
          >
            <PinOff size={18} />
          </IconButton>
        )}
      </span>
    </li>
  );
}
