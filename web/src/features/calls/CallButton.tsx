import { Phone, PhoneOff } from "lucide-react";
import { useState } from "react";

import { useText } from "../../i18n/translate";
import { IconButton } from "../../ui/controls";
import { useErrorText } from "../session/useAction";
import { useAppState, useSession } from "../session/session";
import { preloadVoice } from "../voice/preload";
import { useVoice } from "../voice/useVoice";
import { startCall } from "./startCall";
import "./calls.css";

/** Starts a call in a direct message or group, joins the one that there is, or leaves it. */
export default function CallButton({ channelId }: { channelId: string }) {
  const text = useText();
  const session = useSession();
  const errorText = useErrorText();
  const { own, join, leave } = useVoice(channelId);
  const hasCall = useAppState((state) => state.calls[channelId] !== undefined);
  const [isStarting, setStarting] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const start = async () => {
    setStarting(true);
    setProblem(null);
    try {
      const started = await startCall(session, channelId, () => join(channelId));
      setProblem(started ? null : text("call.unavailable"));
    } catch (error) {
      setProblem(errorText(error));
    } finally {
      setStarting(false);
    }
  };
  if (own !== undefined) {
    return (
      <IconButton label={text("call.leave")} onPress={leave}>
        <PhoneOff size={18} />
      </IconButton>
    );
  }
  return (
    <>
      {problem !== null && (
        <span className="call-problem" role="alert">
          {problem}
        </span>
      )}
      <IconButton
        label={text(hasCall ? "call.join" : "call.start")}
        isDisabled={isStarting}
        onHoverStart={preloadVoice}
        onPress={() => {
          preloadVoice();
          if (hasCall) {
            join(channelId);
          } else {
            void start();
          }
        }}
      >
        <Phone size={18} />
      </IconButton>
    </>
  );
}
