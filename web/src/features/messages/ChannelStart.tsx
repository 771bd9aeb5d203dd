import { UserPlus } from "lucide-react";
import { useState } from "react";

import { Permission } from "../../api/enums";
import { Translate, useText } from "../../i18n/translate";
import { guildIdOf, isThread } from "../../store/channels";
import { has } from "../../store/permissions";
import { Button } from "../../ui/controls";
import { loaded } from "../../ui/loaded";
import { ChannelIcon } from "../channels/ChannelIcon";
import { Content } from "../content/Content";
import { useAppState } from "../session/session";
import { useChannelPermissions } from "../session/usePermissions";
import { MemberAvatar } from "../users/MemberAvatar";

const InviteDialog = loaded(() => import("../invites/InviteDialog"));

const SHOWN_RECIPIENTS = 3;
const AVATAR_SIZE = 64;

interface ChannelStartProps {
  channelId: string;
  /** The channel's name, with its sign. */
  name: string;
}

/** Stands above the first message of a channel: what it is, what it is for, whom to invite. */
export function ChannelStart({ channelId, name }: ChannelStartProps) {
  const text = useText();
  const [inviting, setInviting] = useState(false);
  const channel = useAppState((state) => state.channels[channelId]);
  const guild = useAppState((state) => state.guilds[(channel && guildIdOf(channel)) ?? ""]);
  const mayInvite = has(useChannelPermissions(channel), Permission.CreateInstantInvite);
  const recipients = channel !== undefined && "recipients" in channel ? (channel.recipients ?? []) : [];
  const topic = channel !== undefined && "topic" in channel ? channel.topic : null;
  return (
    <div className="timeline-start">
      <span className="timeline-start-icon" aria-hidden="true">
        {recipients.length === 0
          ? channel !== undefined && <ChannelIcon type={channel.type} />
          : recipients
              .slice(0, SHOWN_RECIPIENTS)
              .map((user) => (
                <MemberAvatar
                  key={user.id}
                  user={user}
                  guildId={null}
                  name={user.global_name ?? user.username}
                  size={AVATAR_SIZE}
                />
              ))}
      </span>
      <h2 dir="auto">{recipients.length === 0 ? text("channel.start", { name }) : name}</h2>
      <p>
        <Translate id="message.none" values={{ name }} />
      </p>
      {topic && <Content content={topic} guildId={guild?.id ?? null} />}
      {guild !== undefined && channel !== undefined && !isThread(channel) && mayInvite && (
        <Button onPress={() => setInviting(true)}>
          <UserPlus size={16} aria-hidden="true" /> {text("guild.invite")}
        </Button>
      )}
      {inviting && guild !== undefined && (
        <InviteDialog guild={guild} channelId={channelId} onClose={() => setInviting(false)} />
      )}
    </div>
  );
}
