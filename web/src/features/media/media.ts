const MAX_WIDTH = 420;
const MAX_HEIGHT = 320;

export interface Size {
  width: number;
  height: number;
}

/** The size of an image or video within the maximum, in its proportions. */
export function fit(width: number, height: number): Size {
  const scale = Math.min(1, MAX_WIDTH / width, MAX_HEIGHT / height);
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

/** The media proxy scales images by these parameters; twice the size is for displays with two pixels for one. */
export function scaled(proxyUrl: string, size: Size): string {
  const url = new URL(proxyUrl);
  url.searchParams.set("width", String(size.width * 2));
  url.searchParams.set("height", String(size.height * 2));
  return url.href;
}

/** Whether a URL is this server's own: every other server would learn the reader's address. */
export function isOwnUrl(url: string | undefined, origin = globalThis.location.origin): url is string {
  return url !== undefined && URL.canParse(url) && new URL(url).origin === origin;
}
