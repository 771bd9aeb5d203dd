import type { APIMessage, APIPoll } from "discord-api-types/v10";
import { useCallback } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";

import { getVoters } from "../../api/messages";
import { useText } from "../../i18n/translate";
import { Dialog } from "../../ui/Dialog";
import { UserPages, type LoadUsers } from "../users/UserPages";
import { useSession } from "../session/session";
import { EmojiMark } from "../emojis/EmojiMark";
import "../users/reactors.css";

interface PollVotersProps {
  message: APIMessage;
  poll: APIPoll;
  guildId: string | null;
  onClose: () => void;
}

/** Who has voted for which answer of a poll. */
export default function PollVoters({ message, poll, guildId, onClose }: PollVotersProps) {
  const text = useText();
  const counts = poll.results?.answer_counts ?? [];
  return (
    <Dialog title={text("messageActions.poll.voters")} onClose={onClose}>
      <p>{poll.question.text}</p>
      <Tabs className="reactors" orientation="vertical">
        <TabList className="reactors-emojis poll-tabs" aria-label={text("messageActions.poll.answers")}>
          {poll.answers.map(({ answer_id: id, poll_media: media }) => (
            <Tab key={id} id={String(id)} className="reactors-emoji">
              {media.emoji && <EmojiMark emoji={media.emoji} size={20} />}
              <span className="poll-tab-text">{media.text}</span>
              <span>{counts.find((count) => count.id === id)?.count ?? 0}</span>
            </Tab>
          ))}
        </TabList>
        {poll.answers.map(({ answer_id: id }) => (
          <TabPanel key={id} id={String(id)} className="reactors-users">
            <Voters message={message} guildId={guildId} answerId={id} />
          </TabPanel>
        ))}
      </Tabs>
    </Dialog>
  );
}

interface VotersProps {
  message: APIMessage;
  guildId: string | null;
  answerId: number;
}

function Voters({ message, guildId, answerId }: VotersProps) {
  const text = useText();
  const { api } = useSession();
  const { channel_id: channelId, id } = message;
  const load: LoadUsers = useCallback(
    (after, limit, signal) => getVoters(api, channelId, id, answerId, { after, limit }, signal),
    [api, channelId, id, answerId],
  );
  return <UserPages load={load} guildId={guildId} empty={text("messageActions.poll.voters.none")} />;
}
