import { Expand, LayoutGrid, Maximize2, MicOff, PictureInPicture2 } from "lucide-react";
import { useEffect, useRef, useState, type RefObject } from "react";
import type { GatewayVoiceState } from "discord-api-types/v10";

import { useText } from "../../i18n/translate";
import { displayName } from "../../store/selectors";
import { IconButton } from "../../ui/controls";
import { setShown, type Video } from "../../voice/videos";
import { useAppState } from "../session/session";
import { useVideos } from "./useVideos";
import { useVoiceStatus } from "./useVoiceStatus";
import "./video.css";

interface VideoStageProps {
  states: readonly GatewayVoiceState[];
  guildId: string;
}

function keyOf({ userId, kind }: Pick<Video, "userId" | "kind">): string {
  return `${kind} ${userId}`;
}

/** The cameras and screens of the user's channel: all in a grid, or one of them large. */
export default function VideoStage({ states, guildId }: VideoStageProps) {
  const text = useText();
  const videos = useVideos().filter(({ userId }) => states.some((voice) => voice.user_id === userId));
  const [chosen, setChosen] = useState<string | null>(null);
  const isShown = videos.some((video) => keyOf(video) === chosen);
  const focused = isShown ? chosen : null;
  return (
    <section
      className="video-stage"
      data-focused={focused !== null || undefined}
      aria-label={text("voice.video.stage")}
    >
      <ul className="video-tiles">
        {videos
          .toSorted((a, b) => Number(keyOf(b) === focused) - Number(keyOf(a) === focused))
          .map((video) => (
            <VideoTile
              key={keyOf(video)}
              video={video}
              guildId={guildId}
              isMuted={states.some(
                (voice) => voice.user_id === video.userId && (voice.mute || voice.self_mute),
              )}
              isFocused={keyOf(video) === focused}
              onFocus={() => setChosen(keyOf(video) === focused ? null : keyOf(video))}
            />
          ))}
      </ul>
    </section>
  );
}

function useName(userId: string, guildId: string): string {
  return useAppState((state) => {
    const user = state.users[userId] ?? state.voiceStates[guildId]?.[userId]?.member?.user;
    return user === undefined ? userId : displayName(state, user, guildId);
  });
}

interface VideoTileProps {
  video: Video;
  guildId: string;
  isMuted: boolean;
  isFocused: boolean;
  onFocus: () => void;
}

function VideoTile({ video, guildId, isMuted, isFocused, onFocus }: VideoTileProps) {
  const text = useText();
  const { userId, kind, track } = video;
  const element = useRef<HTMLVideoElement>(null);
  const name = useName(userId, guildId);
  const isOwn = useAppState((state) => state.user?.id === userId);
  const isSpeaking = useVoiceStatus((status) => kind === "camera" && status.speaking.has(userId));
  const title = text(`voice.video.${kind}`, { name });
  useTrack(element, track);
  useShown(element, video, isOwn);
  return (
    <li
      className="video-tile"
      data-speaking={isSpeaking || undefined}
      data-focused={isFocused || undefined}
      data-kind={kind}
      data-mirrored={(isOwn && kind === "camera") || undefined}
    >
      <video ref={element} autoPlay playsInline muted aria-label={title} />
      <span className="video-tile-name" dir="auto">
        {kind === "screen" && <span className="video-tile-live">{text("voice.video.live")}</span>}
        {isMuted && kind === "camera" && <MicOff size={14} aria-label={text("voice.muted")} />}
        <span>{name}</span>
        {isSpeaking && <span className="visually-hidden">{text("voice.speaking")}</span>}
      </span>
      <span className="video-tile-buttons">
        <IconButton
          label={isFocused ? text("voice.video.unfocus") : text("voice.video.focus", { video: title })}
          onPress={onFocus}
        >
          {isFocused ? <LayoutGrid size={16} /> : <Maximize2 size={16} />}
        </IconButton>
        {document.pictureInPictureEnabled && (
          <IconButton
            label={text("voice.video.pictureInPicture")}
            onPress={() => void element.current?.requestPictureInPicture().catch(() => undefined)}
          >
            <PictureInPicture2 size={16} />
          </IconButton>
        )}
        {document.fullscreenEnabled && (
          <IconButton
            label={text("voice.video.fullscreen")}
            onPress={() => void element.current?.requestFullscreen().catch(() => undefined)}
          >
            <Expand size={16} />
          </IconButton>
        )}
      </span>
    </li>
  );
}

/** Let an element play a track. */
function useTrack(element: RefObject<HTMLVideoElement | null>, track: MediaStreamTrack): void {
  useEffect(() => {
    const { current } = element;
    setSource(current, new MediaStream([track]));
    current?.play().catch(() => undefined);
    return () => setSource(current, null);
  }, [element, track]);
}

function setSource(video: HTMLVideoElement | null, source: MediaStream | null): void {
  if (video !== null) {
    video.srcObject = source;
  }
}

/** Tell how large a video is shown, by which the server decides what it sends: nothing while the page is hidden. */
function useShown(
  element: RefObject<HTMLVideoElement | null>,
  { userId, kind }: Video,
  isOwn: boolean,
): void {
  useEffect(() => {
    const { current } = element;
    if (current === null || isOwn) {
      return;
    }
    const tell = () => {
      const isPicture = document.pictureInPictureElement === current;
      const height = isPicture ? 1 : document.hidden ? 0 : current.clientHeight * devicePixelRatio;
      setShown(userId, kind, current, height > 0 ? height : null);
    };
    const observer = new ResizeObserver(tell);
    observer.observe(current);
    const events = [
      [document, "visibilitychange"],
      [current, "enterpictureinpicture"],
      [current, "leavepictureinpicture"],
    ] as const;
    events.forEach(([target, name]) => target.addEventListener(name, tell));
    tell();
    return () => {
      observer.disconnect();
      events.forEach(([target, name]) => target.removeEventListener(name, tell));
      setShown(userId, kind, current, null);
    };
  }, [element, userId, kind, isOwn]);
}
