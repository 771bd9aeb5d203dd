import { useEffect, useRef, useState } from "react";

import { readAnimation } from "./lottie";

interface LottieStickerProps {
  url: string;
  name: string;
  size: number;
  label: string;
  className?: string | undefined;
}

/** Draws a sticker of vectors, which moves unless the user wants less motion; its name if it cannot be drawn. */
export default function LottieSticker({ url, name, size, label, className }: LottieStickerProps) {
  const frame = useRef<HTMLSpanElement>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    const abort = new AbortController();
    let destroy: (() => void) | null = null;
    const draw = async () => {
      const [player, response] = await Promise.all([
        import("lottie-web/build/player/lottie_light"),
        fetch(url, { signal: abort.signal }),
      ]);
      const animationData = readAnimation(await response.text());
      if (abort.signal.aborted || frame.current === null) {
        return;
      }
      const isStill = wantsLessMotion();
      const animation = player.default.loadAnimation({
        container: frame.current,
        renderer: "svg",
        loop: !isStill,
        autoplay: !isStill,
        animationData,
      });
      destroy = () => animation.destroy();
    };
    draw().catch(() => !abort.signal.aborted && setFailed(true));
    return () => {
      abort.abort();
      destroy?.();
    };
  }, [url]);
  return failed ? (
    <span className={className}>{name}</span>
  ) : (
    <span
      ref={frame}
      className={className}
      style={{ display: "block", width: size, height: size }}
      title={name}
      {...(label === "" ? { "aria-hidden": true } : { role: "img", "aria-label": label })}
    />
  );
}

function wantsLessMotion(): boolean {
  return (
    document.documentElement.dataset["motion"] === "reduced" ||
    matchMedia("(prefers-reduced-motion: reduce)").matches
  );
}
