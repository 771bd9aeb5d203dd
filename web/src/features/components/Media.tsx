import { useState, type ReactNode } from "react";
import { Button as AriaButton } from "react-aria-components";

import { useText } from "../../i18n/translate";
import { loaded } from "../../ui/loaded";
import type { ViewedImage } from "../media/ImageViewer";
import type { Component, Media } from "./types";

const ImageViewer = loaded(async () => ({ default: (await import("../media/ImageViewer")).ImageViewer }));

type GalleryItem = NonNullable<Component["items"]>[number];

/** Shows its children, spoilers once they are revealed. */
export function Hidden({ spoiler, children }: { spoiler: boolean | undefined; children: ReactNode }) {
  const text = useText();
  const [shown, setShown] = useState(spoiler !== true);
  return shown ? (
    children
  ) : (
    <AriaButton className="attachment-spoiler" onPress={() => setShown(true)}>
      {text("message.spoiler")}
    </AriaButton>
  );
}

/** Where an image or video comes from: this server or its proxy, as others would learn the reader's address. */
function sourceOf(media: Media | undefined): string | null {
  const url = media?.proxy_url ?? media?.url;
  return url !== undefined && URL.canParse(url) && new URL(url).origin === location.origin ? url : null;
}

interface ImageProps {
  media: Media | undefined;
  alt: string;
  className: string;
}

export function Image({ media, alt, className }: ImageProps) {
  const source = sourceOf(media);
  return source && <img className={className} src={source} alt={alt} loading="lazy" />;
}

const isVideo = ({ media }: GalleryItem) => media.content_type?.startsWith("video/") === true;

/** Images and videos side by side; an image opens over the whole page. */
export function Gallery({ items }: { items: readonly GalleryItem[] }) {
  const text = useText();
  const [opened, setOpened] = useState<GalleryItem | null>(null);
  const shown = items.filter((item) => sourceOf(item.media) !== null);
  return (
    <div className="component-gallery">
      {shown.map((item, index) => (
        <Hidden key={index} spoiler={item.spoiler}>
          {isVideo(item) ? (
            // eslint-disable-next-line jsx-a11y/media-has-caption -- applications send no captions
            <video
              className="component-image"
              controls
              preload="metadata"
              src={sourceOf(item.media) ?? undefined}
              aria-label={item.description ?? nameOf(item)}
            />
          ) : (
            <AriaButton
              className="component-open"
              aria-label={item.description ?? text("viewer.title", { name: nameOf(item) })}
              onPress={() => setOpened(item)}
            >
              <Image media={item.media} alt="" className="component-image" />
            </AriaButton>
          )}
        </Hidden>
      ))}
      {opened !== null && <ImageViewer images={[viewed(opened)]} first={0} onClose={() => setOpened(null)} />}
    </div>
  );
}

function viewed(item: GalleryItem): ViewedImage {
  const source = sourceOf(item.media) ?? "";
  return { url: source, source, name: nameOf(item), description: item.description ?? "" };
}

function nameOf({ media }: GalleryItem): string {
  return URL.canParse(media.url) ? (new URL(media.url).pathname.split("/").at(-1) ?? "") : "";
}
