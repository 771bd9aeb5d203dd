import type { APIMessage, APIReaction, APIUser } from "discord-api-types/v10";
import { useEffect, useState } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";

import { emojiUrl } from "../../api/images";
import { getReactors } from "../../api/users";
import { Translate, useText } from "../../i18n/translate";
import { Button, Dialog } from "../../ui/controls";
import { UserRow } from "../members/UserRow";
import { useSession } from "../session/session";
import { useErrorText } from "../session/useAction";
import "./reactors.css";

const PAGE_SIZE = 50;

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
            <ReactorList message={message} guildId={guildId} emoji={reaction.emoji} />
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
  const errorText = useErrorText();
  const [users, setUsers] = useState<readonly APIUser[]>([]);
  const [after, setAfter] = useState<string | undefined>(undefined);
  const [status, setStatus] = useState<"loading" | "more" | "done">("loading");
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    const abort = new AbortController();
    getReactors(api, message.channel_id, message.id, emoji, after, PAGE_SIZE, abort.signal).then(
      (page) => {
        setUsers((before) => [...before, ...page]);
        setStatus(page.length === PAGE_SIZE ? "more" : "done");
      },
      (caught: unknown) => !abort.signal.aborted && setError(caught),
    );
    return () => abort.abort();
  }, [api, message.channel_id, message.id, emoji, after]);
  if (error !== null) {
    return (
      <p role="alert" className="field-error">
        {errorText(error)}
      </p>
    );
  }
  return (
    <>
      <ul>
        {users.map((user) => (
          <UserRow key={user.id} user={user} guildId={guildId} />
        ))}
      </ul>
      {status === "loading" && (
        <p role="status">
          <Translate id="app.loading" />
        </p>
      )}
      {status === "more" && (
        <Button
          onPress={() => {
            setStatus("loading");
            setAfter(users.at(-1)?.id);
          }}
        >
          {text("reactors.more")}
        </Button>
      )}
    </>
  );
}
