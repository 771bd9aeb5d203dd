/**
 * The keys by which an animation names classes and ids of its elements, which are those of the page, and fonts, for
 * which styles would be added to the page.
 */
const PAGE_KEYS: ReadonlySet<string> = new Set(["cl", "ln", "fPath"]);

/** An animation from its file, without what could reach beyond it. Throws SyntaxError for a file that is no JSON. */
export function readAnimation(text: string): Record<string, unknown> {
  const isReachable = (key: string) => !PAGE_KEYS.has(key);
  const animation = JSON.parse(text, (key, value: unknown) =>
    isReachable(key) ? value : undefined,
  ) as Record<string, unknown>;
  // Pictures would be requested from wherever the animation says.
  const assets = Array.isArray(animation["assets"]) ? (animation["assets"] as Record<string, unknown>[]) : [];
  return { ...animation, assets: assets.filter((asset) => Array.isArray(asset["layers"])) };
}
