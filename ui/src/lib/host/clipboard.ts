// Text to the clipboard, also where the web view refuses the modern call.

/**
 * A text that is still asked for is promised to the clipboard: once a key's moment is over, WebKit takes nothing more.
 * Fails as the promise does.
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
  // A browser may come to listen to it only after it has failed; whoever copies is told of that by the text itself.
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
