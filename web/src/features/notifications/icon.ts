const PLAIN = "/icon.svg";
const SIZE = 64;
const MAX_SHOWN = 99;

/** Put a number onto the page's icon; 0 removes it. Browsers that lack a canvas keep the plain icon. */
export async function drawIcon(count: number): Promise<void> {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (link === null) {
    return;
  }
  if (count === 0) {
    link.href = PLAIN;
    return;
  }
  const context = Object.assign(document.createElement("canvas"), { width: SIZE, height: SIZE }).getContext(
    "2d",
  );
  const image = Object.assign(new Image(SIZE, SIZE), { src: PLAIN });
  await image.decode().catch(() => undefined);
  if (context === null) {
    return;
  }
  context.drawImage(image, 0, 0, SIZE, SIZE);
  const colors = getComputedStyle(document.documentElement);
  context.fillStyle = colors.getPropertyValue("--dnd");
  context.beginPath();
  context.arc(SIZE * 0.68, SIZE * 0.68, SIZE * 0.32, 0, 2 * Math.PI);
  context.fill();
  context.fillStyle = colors.getPropertyValue("--surface-3");
  context.font = `700 ${SIZE * (count > 9 ? 0.34 : 0.46)}px sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(String(Math.min(count, MAX_SHOWN)), SIZE * 0.68, SIZE * 0.7);
  link.href = context.canvas.toDataURL("image/png");
}
