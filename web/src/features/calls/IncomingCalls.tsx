import { useNavigate } from "@tanstack/react-router";
import { Phone, PhoneOff } from "lucide-react";
import { useEffect, useMemo } from "react";

import { stopRinging } from "../../api/calls";
import { useText } from "../../i18n/translate";
import { incomingCalls } from "../../store/calls";
import { channelName } from "../../store/selectors";
import { Avatar, Button } from "../../ui/controls";
import { MemberAvatar } from "../users/MemberAvatar";
import { isGroup, recipientsOf } from "../direct/recipients";
import { ErrorNotice } from "../session/ErrorNotice";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { preloadVoice } from "../voice/preload";
import { useVoice } from "../voice/useVoice";
import { notifyOfCall, startRinging } from "./ringTone";
import "./calls.css";

/** The calls that ring, over every screen, with their sound. */
export default function IncomingCalls() {
  const joined = useAppState((state) => incomingCalls(state).join());
  const channelIds = useMemo(() => joined.split(",").filter((id) => id !== ""), [joined]);
  const rings = channelIds.length > 0;
  useEffect(() => {
    if (!rings) {
      return undefined;
    }
    preloadVoice();
    return startRinging();
  }, [rings]);
  return (
    <div className="incoming-calls">
      {channelIds.map((id) => (
        <IncomingCall key={id} channelId={id} />
      ))}
    </div>
  );
}

function IncomingCall({ channelId }: { channelId: string }) {
  const text = useText();
  const { api } = useSession();
  const navigate = useNavigate();
  const action = useAction();
  const { join } = useVoice(channelId);
  const channel = useAppState((state) => state.channels[channelId]);
  const name = useAppState((state) => (channel === undefined ? "" : channelName(state, channel)));
  const inGroup = channel !== undefined && isGroup(channel);
  const title = text(inGroup ? "call.incomingGroup" : "call.incoming", { name });
  useEffect(() => (name === "" ? undefined : notifyOfCall(channelId, title)), [channelId, name, title]);
  if (channel === undefined) {
    return null;
  }
  const accept = () => {
    join(channelId);
    void navigate({ to: "/channels/@me/$channelId", params: { channelId } });
  };
  const [recipient] = recipientsOf(channel);
  return (
    <section className="incoming-call" aria-label={title}>
      {inGroup || recipient === undefined ? (
        <Avatar url={null} name={name} size={48} hueKey={channelId} tile />
      ) : (
        <MemberAvatar user={recipient} guildId={null} name={name} size={48} />
      )}
      <p className="incoming-call-title" role="alert">
        {title}
      </p>
      <div className="incoming-call-actions">
        <Button kind="primary" onPress={accept}>
          <Phone size={16} aria-hidden="true" /> {text("call.accept")}
        </Button>
        <Button
          kind="danger"
          isDisabled={action.pending}
          onPress={() => void action.run(() => stopRinging(api, channelId))}
        >
          <PhoneOff size={16} aria-hidden="true" /> {text("call.decline")}
        </Button>
      </div>
      <ErrorNotice error={action.error} />
    </section>
  );
}
