/** Load the code of menus, panels and dialogs, so that the first of each opens at once. */
export function preloadOverlays(): void {
  // Without a network they are loaded when they are opened.
  void Promise.allSettled([import("./MenuPopover"), import("./PanelPopover"), import("./ModalDialog")]);
}
