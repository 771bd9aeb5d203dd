import { Link } from "@tanstack/react-router";
import { PhoneOff, Signal } from "lucide-react";
import { useEffect, useState, type ReactNode } from "react";

import type { Part } from "../../i18n/messages";
import { useText, WithTexts } from "../../i18n/translate";
import { channelName } from "../../store/selectors";
import { ownVoiceState } from "../../store/voice";
import { Button, IconButton } from "../../ui/controls";
import { activeVoiceClient } from "../../voice/client";
import { gradeOf } from "../../voice/quality";
import { readReturn, rememberReturn } from "../../voice/returning";
import { useAppState, useSession } from "../session/session";
import { SelfControls } from "./SelfControls";
import { useVoice } from "./useVoice";
import { useVoiceStatus } from "./useVoiceStatus";
import "./bar.css";

const PARTS: readonly Part[] = ["voice"];

/** The voice channel that the user is connected to: how it goes, and what can be done from anywhere. */
export default function ConnectedBar() {
  const own = useAppState((state) => ownVoiceState(state)?.guildId ?? null);
  const phase = useVoiceStatus((status) => status.phase);
  return (
    <WithTexts parts={PARTS}>
      {own !== null ? <Connected guildId={own} /> : phase !== null ? <Lost /> : <ReturnOffer />}
    </WithTexts>
  );
}

function Frame({ children }: { children: ReactNode }) {
  const text = useText();
  return (
    <section className="voice-bar" aria-label={text("voice.bar")}>
      {children}
    </section>
  );
}

function Connected({ guildId }: { guildId: string }) {
  const text = useText();
  const voice = useVoice(guildId);
  const channelId = voice.own?.channel_id ?? "";
  const name = useChannelName(channelId);
  return (
    <Frame>
      <div className="voice-bar-row">
        <div className="voice-bar-text">
          {voice.isHere ? (
            <State />
          ) : (
            <span className="voice-bar-state">{text("voice.phase.elsewhere")}</span>
          )}
          {guildId === channelId ? (
            <Link to="/channels/@me/$channelId" params={{ channelId }}>
              <span dir="auto">{name}</span>
            </Link>
          ) : (
            <Link to="/channels/$guildId/$channelId" params={{ guildId, channelId }}>
              <span dir="auto">{name}</span>
            </Link>
          )}
        </div>
        {!voice.isHere && <Button onPress={() => voice.join(channelId)}>{text("voice.joinHere")}</Button>}
        <IconButton label={text("voice.leave")} onPress={voice.leave}>
          <PhoneOff size={18} />
        </IconButton>
      </div>
      {voice.isHere && (
        <>
          <SelfControls guildId={guildId} />
          <Problems />
        </>
      )}
    </Frame>
  );
}

/** How the connection is doing, in words. */
function State() {
  const text = useText();
  const phase = useVoiceStatus((status) => status.phase) ?? "connecting";
  const quality = useVoiceStatus((status) => status.quality);
  if (phase !== "connected" || quality === null) {
    return <span className={`voice-bar-state voice-bar-${phase}`}>{text(`voice.phase.${phase}`)}</span>;
  }
  const grade = gradeOf(quality);
  const percent = Math.round(quality.loss * 100);
  const figures = [
    quality.roundTripMs !== null && text("voice.quality.roundTrip", { ms: quality.roundTripMs }),
    percent > 0 && text("voice.quality.loss", { percent }),
  ].filter((each) => each !== false);
  return (
    <span className={`voice-bar-state voice-bar-${grade}`}>
      <Signal size={14} aria-hidden="true" /> {text(`voice.quality.${grade}`)}
      {figures.length > 0 && <span className="voice-bar-figures"> {figures.join(", ")}</span>}
    </span>
  );
}

/** What keeps the user from hearing or being heard, with what can be done about it. */
function Problems() {
  const text = useText();
  const failure = useVoiceStatus((status) => status.failure);
  const microphone = useVoiceStatus((status) => status.microphone);
  const isSilenced = useVoiceStatus((status) => status.isSilenced);
  const video = useVoiceStatus((status) => status.videoProblem);
  if (failure !== null) {
    return (
      <Problem text={text(`voice.failure.${failure}`)}>
        {failure !== "unsupported" && (
          <Button onPress={() => activeVoiceClient()?.retry()}>{text("voice.tryAgain")}</Button>
        )}
      </Problem>
    );
  }
  return (
    <>
      {isSilenced && (
        <Problem text={text("voice.silenced")}>
          {/* Any press on the page lets it play. */}
          <Button>{text("voice.unsilence")}</Button>
        </Problem>
      )}
      {microphone !== null && (
        <Problem text={text(`voice.microphone.${microphone}`)}>
          {microphone !== "unsupported" && (
            <Button onPress={() => activeVoiceClient()?.retryMicrophone()}>{text("voice.tryAgain")}</Button>
          )}
        </Problem>
      )}
      {video !== null && (
        <Problem
          text={text(
            video.kind === "camera" ? `voice.camera.${video.problem}` : `voice.screen.${video.problem}`,
          )}
        />
      )}
    </>
  );
}

function Problem({ text, children }: { text: string; children?: ReactNode }) {
  return (
    <div className="voice-bar-problem">
      <p role="alert">{text}</p>
      {children}
    </div>
  );
}

/** While the connection to the server is lost, nothing else is known. */
function Lost() {
  return (
    <Frame>
      <State />
    </Frame>
  );
}

/** The way back into the channel that this tab was in when its page was loaded again. */
function ReturnOffer() {
  const text = useText();
  const { userId } = useSession().account;
  const [offer, setOffer] = useState(() => readReturn(userId));
  const name = useChannelName(offer?.channelId ?? "");
  const { join } = useVoice(offer?.guildId ?? "");
  const endsAt = offer?.endsAt;
  useEffect(() => {
    const timer = endsAt === undefined ? undefined : setTimeout(() => setOffer(null), endsAt - Date.now());
    return () => clearTimeout(timer);
  }, [endsAt]);
  if (offer === null || name === "") {
    return null;
  }
  const dismiss = () => {
    rememberReturn(userId, null);
    setOffer(null);
  };
  return (
    <Frame>
      <p className="voice-bar-text">{text("voice.return", { name })}</p>
      <div className="voice-bar-row">
        <Button kind="primary" onPress={() => join(offer.channelId)}>
          {text("voice.return.join")}
        </Button>
        <Button kind="quiet" onPress={dismiss}>
          {text("voice.return.dismiss")}
        </Button>
      </div>
    </Frame>
  );
}

function useChannelName(channelId: string): string {
  return useAppState((state) => {
    const channel = state.channels[channelId];
    return channel === undefined ? "" : channelName(state, channel);
  });
}
