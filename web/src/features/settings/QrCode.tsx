import { encode } from "uqr";

import "./factors.css";

/** A text as a QR code, black on white in every theme, as cameras need it. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { ecc: "M", border: 4 });
  const path = data
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")))
    .join("");
  return (
    <svg className="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <rect width={size} height={size} fill="white" />
      <path d={path} fill="black" shapeRendering="crispEdges" />
    </svg>
  );
}
