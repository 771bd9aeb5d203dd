/** Where the user was before they opened the settings; the root address leads to what was open last. */
let before = "/app";

/** Remember the screen that closing the settings leads back to. */
export function rememberScreen(): void {
  if (location.pathname.startsWith("/channels/")) {
    before = location.pathname;
  }
}

export function returnPath(): string {
  return before;
}
