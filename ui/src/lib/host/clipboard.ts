// Copies text to the clipboard, with a fallback if the web view refuses the modern call.

/**
 * A text that is still on its way is passed as a promise: WebKit accepts clipboard calls only during the key event.
 * Rejects if the promise rejects.
 */
export async function copyText(text: string | Promise<string>): Promise<void> {
  try {
    await (typeof text === "string" ? navigator.clipboard.writeText(text) : navigator.clipboard.write([promised(text)]));
  } catch {
    copyThroughSelection(await text);
  }
}

function promised(text: Promise<string>): ClipboardItem {
  const type = "text/plain";
  const blob = text.then((known) => new Blob([known], { type }));
  // A browser may attach its handler only after the promise has failed. The caller gets the error from `text` itself.
  blob.catch(() => undefined);
  return new ClipboardItem({ [type]: blob });
}

function copyThroughSelection(text: string): void {
  const before = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.setAttribute("aria-hidden", "true");
  area.style.position = "fixed";
  area.style.opacity = "0";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  if (!done) throw new Error("The clipboard could not be written.");
}
