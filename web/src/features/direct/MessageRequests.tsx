import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import type { APIChannel } from "discord-api-types/v10";
import { MailOpen, MailQuestionMark } from "lucide-react";

import { acceptRequest, getRequestPreviews, ignoreRequest } from "../../api/messageRequests";
import type { Part } from "../../i18n/messages";
import { Translate, useText, WithTexts } from "../../i18n/translate";
import { plainText } from "../../markdown/plain";
import { isMessageRequest } from "../../store/messageRequests";
import { channelName, messageRequests } from "../../store/selectors";
import { Button } from "../../ui/controls";
import { EmptyPlace } from "../../ui/EmptyPlace";
import { ErrorNotice } from "../session/ErrorNotice";
import { Queries } from "../session/queries";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { PresenceAvatar } from "../users/PresenceAvatar";
import { recipientsOf } from "./recipients";
import "./requests.css";

const PARTS: readonly Part[] = ["people"];
const PREVIEW_LENGTH = 200;

/** Direct messages of strangers, apart from the others until they are accepted. */
export default function MessageRequests() {
  return (
    <WithTexts parts={PARTS}>
      <Queries>
        <RequestList />
      </Queries>
    </WithTexts>
  );
}

function RequestList() {
  const text = useText();
  const { api, account } = useSession();
  const requests = useAppState(messageRequests);
  const ids = requests.map(({ id }) => id);
  const previews = useQuery({
    queryKey: [account.userId, "message requests", ids],
    queryFn: () => getRequestPreviews(api, ids),
    enabled: ids.length > 0,
    retry: false,
  });
  return (
    <>
      <header className="channel-header">
        <MailQuestionMark size={20} className="channel-icon" aria-hidden="true" />
        <h1>{text("requests.title")}</h1>
      </header>
      <div className="requests">
        <p className="field-hint">{text("requests.about")}</p>
        {requests.length === 0 && (
          <EmptyPlace icon={MailOpen} title={text("requests.none")}>
            {text("requests.none.hint")}
          </EmptyPlace>
        )}
        <ul>
          {requests.map((channel) => {
            const preview = previews.data?.find((each) => each.channel_id === channel.id)?.message_preview;
            return <Request key={channel.id} channel={channel} preview={preview?.content ?? ""} />;
          })}
        </ul>
      </div>
    </>
  );
}

function Request({ channel, preview }: { channel: APIChannel; preview: string }) {
  const name = useAppState((state) => channelName(state, channel));
  const [sender] = recipientsOf(channel);
  return (
    <li className="request">
      {sender !== undefined && <PresenceAvatar user={sender} name={name} size={40} />}
      <Link className="request-text" to="/channels/@me/$channelId" params={{ channelId: channel.id }}>
        <span>
          <strong dir="auto">{name}</strong> <span className="field-hint">{sender?.username}</span>
        </span>
        <span className="request-preview" dir="auto">
          {plainText(preview, PREVIEW_LENGTH)}
        </span>
      </Link>
      <RequestActions channel={channel} />
    </li>
  );
}

/** Accepts or ignores a message request. */
function RequestActions({ channel }: { channel: APIChannel }) {
  const text = useText();
  const { api, store } = useSession();
  const navigate = useNavigate();
  const action = useAction();
  const name = useAppState((state) => channelName(state, channel));
  const accept = async () => {
    store.dispatch("CHANNEL_UPDATE", await acceptRequest(api, channel.id));
    await navigate({ to: "/channels/@me/$channelId", params: { channelId: channel.id } });
  };
  const ignore = async () => {
    await ignoreRequest(api, channel.id);
    store.dispatch("CHANNEL_DELETE", channel);
    await navigate({ to: "/channels/@me/requests" });
  };
  return (
    <span className="request-actions">
      <Button
        isDisabled={action.pending}
        aria-label={text("requests.ignore.named", { name })}
        onPress={() => void action.run(ignore)}
      >
        {text("requests.ignore")}
      </Button>
      <Button
        kind="primary"
        isDisabled={action.pending}
        aria-label={text("requests.accept.named", { name })}
        onPress={() => void action.run(accept)}
      >
        {text("requests.accept")}
      </Button>
      <ErrorNotice error={action.error} />
    </span>
  );
}

/** Says above a direct message that it is a request, until the user has accepted it. */
export function RequestBar({ channel }: { channel: APIChannel }) {
  const name = useAppState((state) => channelName(state, channel));
  if (!isMessageRequest(channel)) {
    return null;
  }
  return (
    <WithTexts parts={PARTS}>
      <div className="request-bar" role="region" aria-labelledby={`request-${channel.id}`}>
        <span id={`request-${channel.id}`}>
          <Translate id="requests.bar" values={{ name }} />
        </span>
        <RequestActions channel={channel} />
      </div>
    </WithTexts>
  );
}
