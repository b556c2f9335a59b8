// Draws characters that hide, as the engine does for the texts of a request.

/**
 * Characters that change or hide text without being seen. Line feeds and tabs are not among them. The same ranges as in
 * `crates/core/src/requests/visible.rs`.
 */
const HIDING =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u115f-\u1160\u1680\u17b4-\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{110bd}\u{110cd}\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{10ffff}]/gu;

/** The text with each hiding character as `⟨U+202E⟩`. */
export function visible(text: string): string {
  return text.replace(HIDING, (character) => `⟨U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/** The same in one line of at most `most` characters. */
export function visibleLine(text: string, most = 200): string {
  const line = visible(text).replaceAll("\n", "⏎").replaceAll("\t", " ");
  const characters = [...line];
  return characters.length > most ? `${characters.slice(0, most).join("")}…` : line;
}
