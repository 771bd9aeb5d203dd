import type { APIAttachment, APIStickerItem } from "discord-api-types/v10";
import { FileText } from "lucide-react";
import { useState, type CSSProperties } from "react";
import { Button as AriaButton } from "react-aria-components";

import { useText } from "../../i18n/translate";
import { visible } from "../../markdown/invisible";
import { safeUrl } from "../../markdown/urls";
import { loaded } from "../../ui/loaded";
import { clockOf } from "../../ui/times";
import type { ViewedImage } from "../media/ImageViewer";
import { fit, scaled } from "../media/media";
import { StickerImage } from "../media/StickerImage";
import { formatSize } from "./formatSize";
import "./attachments.css";

const ImageViewer = loaded(async () => ({ default: (await import("../media/ImageViewer")).ImageViewer }));

const IS_SPOILER = 1 << 3;

interface AttachmentsProps {
  attachments: readonly APIAttachment[];
  stickers?: readonly APIStickerItem[] | undefined;
}

interface AttachmentProps {
  attachment: APIAttachment;
  isCovered: boolean;
  onReveal: () => void;
  onOpen: () => void;
}

export function Attachments({ attachments, stickers = [] }: AttachmentsProps) {
  const [revealed, setRevealed] = useState<ReadonlySet<string>>(new Set());
  const [openId, setOpenId] = useState<string | null>(null);
  if (attachments.length === 0 && stickers.length === 0) {
    return null;
  }
  const isCovered = (attachment: APIAttachment) => isSpoiler(attachment) && !revealed.has(attachment.id);
  const images = attachments.filter((attachment) => isImage(attachment) && !isCovered(attachment));
  return (
    <div className="attachments">
      {attachments.map((attachment) => (
        <Attachment
          key={attachment.id}
          attachment={attachment}
          isCovered={isCovered(attachment)}
          onReveal={() => setRevealed(new Set([...revealed, attachment.id]))}
          onOpen={() => setOpenId(attachment.id)}
        />
      ))}
      {stickers.map((sticker) => (
        <StickerImage key={sticker.id} sticker={sticker} size={160} label={sticker.name} />
      ))}
      {openId !== null && (
        <ImageViewer
          images={images.map(viewed)}
          first={Math.max(
            0,
            images.findIndex((image) => image.id === openId),
          )}
          onClose={() => setOpenId(null)}
        />
      )}
    </div>
  );
}

/** A file with whatever shows its type; spoilers are covered until they are revealed. */
function Attachment({ attachment, isCovered, onReveal, onOpen }: AttachmentProps) {
  const text = useText();
  const type = attachment.content_type ?? "";
  if (isImage(attachment)) {
    const size = fit(attachment.width ?? 1, attachment.height ?? 1);
    return (
      <AriaButton
        className={isCovered ? "attachment-image attachment-covered" : "attachment-image"}
        aria-label={isCovered ? text("message.spoiler") : label(attachment)}
        onPress={isCovered ? onReveal : onOpen}
      >
        <img
          src={scaled(attachment.proxy_url, size)}
          alt={isCovered ? "" : (attachment.description ?? "")}
          {...size}
          loading="lazy"
        />
        {isCovered && (
          <span className="attachment-cover">
            <span className="attachment-cover-text">{text("upload.spoiler.tag")}</span>
          </span>
        )}
      </AriaButton>
    );
  }
  if (isCovered) {
    return (
      <AriaButton className="attachment-spoiler" onPress={onReveal}>
        {text("message.spoiler")}
      </AriaButton>
    );
  }
  if (type.startsWith("video/")) {
    return (
      // eslint-disable-next-line jsx-a11y/media-has-caption -- uploaded files have no captions
      <video
        controls
        preload="metadata"
        src={attachment.url}
        aria-label={label(attachment)}
        style={videoSize(attachment)}
      />
    );
  }
  if (type.startsWith("audio/")) {
    return (
      <figure className="attachment-audio">
        <figcaption className="attachment-name" dir="auto">
          {isVoiceMessage(attachment)
            ? text("message.voice", { duration: clockOf(Math.ceil(attachment.duration_secs ?? 0)) })
            : visible(attachment.filename)}
        </figcaption>
        {/* eslint-disable-next-line jsx-a11y/media-has-caption -- uploaded files have no captions */}
        <audio controls preload="metadata" src={attachment.url} aria-label={label(attachment)} />
      </figure>
    );
  }
  return (
    <a
      className="attachment-file"
      href={safeUrl(attachment.url) ?? undefined}
      target="_blank"
      rel="noopener noreferrer"
      download
    >
      <FileText size={24} aria-hidden="true" />
      <span>
        <span className="attachment-name" dir="auto">
          {visible(attachment.filename)}
        </span>
        <span className="attachment-size">{formatSize(attachment.size)}</span>
      </span>
    </a>
  );
}

function isImage(attachment: APIAttachment): boolean {
  const isPicture = attachment.content_type?.startsWith("image/") === true;
  return isPicture && Boolean(attachment.width) && Boolean(attachment.height);
}

function isSpoiler(attachment: APIAttachment): boolean {
  return attachment.filename.startsWith("SPOILER_") || ((attachment.flags ?? 0) & IS_SPOILER) !== 0;
}

/** Of a video whose size is known; others have the room of the style sheet, which their size does not change. */
function videoSize({ width, height }: APIAttachment): CSSProperties | undefined {
  if (!width || !height) {
    return undefined;
  }
  const size = fit(width, height);
  return { inlineSize: size.width, aspectRatio: size.width / size.height };
}

/** Only the sound of a voice message is described by its waveform. */
function isVoiceMessage({ waveform }: APIAttachment): boolean {
  return waveform !== undefined;
}

function viewed(attachment: APIAttachment): ViewedImage {
  return {
    url: attachment.url,
    source: attachment.proxy_url,
    name: visible(attachment.filename.replace(/^SPOILER_/, "")),
    description: attachment.description ?? "",
  };
}

function label(attachment: APIAttachment): string {
  return visible(attachment.description ?? attachment.filename);
}
