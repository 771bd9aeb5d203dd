/** Where the user was before they opened the settings. */
let before = "/channels/@me";

/** Remember the screen that closing the settings leads back to. */
export function rememberScreen(): void {
  if (location.pathname.startsWith("/channels/")) {
    before = location.pathname;
  }
}

export function returnPath(): string {
  return before;
}
