// The focus of the window.

/** Moves the focus to a field that the user asked for. Returns the way back: call it when the field goes. */
export function borrowFocus(field: HTMLElement | undefined): () => void {
  const before = document.activeElement;
  field?.focus();
  return () => {
    if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
  };
}
