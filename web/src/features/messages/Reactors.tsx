import type { APIMessage, APIReaction } from "discord-api-types/v10";
import { useCallback } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";

import { Permission } from "../../api/enums";
import { emojiUrl } from "../../api/images";
import { clearReactions } from "../../api/messages";
import { getReactors } from "../../api/users";
import { useText } from "../../i18n/translate";
import { has } from "../../store/permissions";
import { Button } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { WithActionTexts } from "../../i18n/WithActionTexts";
import { UserPages, type LoadUsers } from "../users/UserPages";
import { ErrorNotice } from "../session/ErrorNotice";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { useChannelPermissions } from "../session/usePermissions";
import "../users/reactors.css";

interface ReactorsProps {
  message: APIMessage;
  guildId: string | null;
  onClose: () => void;
}

/** Who reacted to a message, by emoji. */
export function Reactors({ message, guildId, onClose }: ReactorsProps) {
  const text = useText();
  const reactions = message.reactions ?? [];
  return (
    <Dialog title={text("reactors.title")} onClose={onClose}>
      <Tabs className="reactors" orientation="vertical">
        <TabList className="reactors-emojis" aria-label={text("reactors.emojis")}>
          {reactions.map((reaction) => (
            <Tab
              key={keyOf(reaction)}
              id={keyOf(reaction)}
              className="reactors-emoji"
              aria-label={text("message.reaction", {
                emoji: reaction.emoji.name ?? "",
                count: reaction.count,
              })}
            >
              {reaction.emoji.id ? (
                <img src={emojiUrl(reaction.emoji.id, 20)} alt="" width={20} height={20} />
              ) : (
                <span aria-hidden="true">{reaction.emoji.name}</span>
              )}
              <span aria-hidden="true">{reaction.count}</span>
            </Tab>
          ))}
        </TabList>
        {reactions.map((reaction) => (
          <TabPanel key={keyOf(reaction)} id={keyOf(reaction)} className="reactors-users">
            <WithActionTexts>
              <ReactorList message={message} guildId={guildId} emoji={reaction.emoji} />
            </WithActionTexts>
          </TabPanel>
        ))}
      </Tabs>
    </Dialog>
  );
}

function keyOf(reaction: APIReaction): string {
  return reaction.emoji.id ?? reaction.emoji.name ?? "";
}

interface ReactorListProps {
  message: APIMessage;
  guildId: string | null;
  emoji: APIReaction["emoji"];
}

function ReactorList({ message, guildId, emoji }: ReactorListProps) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const { channel_id: channelId, id } = message;
  const mayClear = has(
    useChannelPermissions(useAppState((state) => state.channels[channelId])),
    Permission.ManageMessages,
  );
  const load: LoadUsers = useCallback(
    (after, limit, signal) => getReactors(api, channelId, id, emoji, after, limit, signal),
    [api, channelId, id, emoji],
  );
  return (
    <>
      <UserPages load={load} guildId={guildId} />
      {mayClear && (
        <Button
          kind="danger"
          isDisabled={action.pending}
          onPress={() => void action.run(() => clearReactions(api, channelId, id, emoji))}
        >
          {text("messageActions.reactions.clear")}
        </Button>
      )}
      <ErrorNotice error={action.error} />
    </>
  );
}
