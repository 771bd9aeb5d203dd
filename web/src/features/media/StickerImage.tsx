import type { APIStickerItem } from "discord-api-types/v10";

import { stickerUrl } from "../../api/images";
import { loaded } from "../../ui/loaded";

const LottieSticker = loaded(() => import("./LottieSticker"));

const LOTTIE = 3;

interface StickerImageProps {
  sticker: APIStickerItem;
  /** Its width and height in pixels. */
  size: number;
  /** What it shows; empty beside its name. */
  label: string;
  className?: string;
}

/** A sticker: an image, or an animation of vectors, whose player is loaded with the first one. */
export function StickerImage({ sticker, size, label, className }: StickerImageProps) {
  const { name } = sticker;
  return (sticker.format_type as number) === LOTTIE ? (
    <LottieSticker
      fallback={<span className={className} style={{ display: "block", width: size, height: size }} />}
      url={`/stickers/${sticker.id}.json`}
      name={name}
      size={size}
      label={label}
      className={className}
    />
  ) : (
    <img
      src={stickerUrl(sticker)}
      alt={label}
      title={name}
      width={size}
      height={size}
      className={className}
      loading="lazy"
    />
  );
}
