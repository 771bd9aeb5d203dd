/** After the key was released, the last syllable is still let through. */
const RELEASE_MS = 150;

/** Where keys write text. */
const EDITABLE = "input, textarea, select, [contenteditable]";

/**
 * Follow a key for as long as the page has the focus. `onChange` is called with whether it is held. A key that writes
 * does so in fields for text; there it does not talk.
 */
export function followKey(
  key: () => { code: string; label: string },
  onChange: (isHeld: boolean) => void,
): () => void {
  let isHeld = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const release = () => {
    if (isHeld) {
      isHeld = false;
      timer = setTimeout(() => onChange(false), RELEASE_MS);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { code, label } = key();
    const writes =
      label.length === 1 && event.target instanceof Element && event.target.closest(EDITABLE) !== null;
    const isCombined = event.ctrlKey || event.metaKey || event.altKey;
    if (event.code !== code || writes || (isCombined && label.length === 1)) {
      return;
    }
    if (label.length === 1 || label === " ") {
      // The letter would go into the composer, and a space would scroll.
      event.preventDefault();
    }
    if (!isHeld) {
      isHeld = true;
      clearTimeout(timer);
      onChange(true);
    }
  };
  const onKeyUp = (event: KeyboardEvent) => {
    if (event.code === key().code) {
      release();
    }
  };
  // Before the page's shortcuts, one of which moves the focus to the composer.
  document.addEventListener("keydown", onKeyDown, true);
  document.addEventListener("keyup", onKeyUp, true);
  globalThis.addEventListener("blur", release);
  return () => {
    document.removeEventListener("keydown", onKeyDown, true);
    document.removeEventListener("keyup", onKeyUp, true);
    globalThis.removeEventListener("blur", release);
    clearTimeout(timer);
    if (isHeld) {
      onChange(false);
    }
  };
}
