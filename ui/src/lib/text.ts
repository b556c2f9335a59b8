// Text from transcripts, made safe to look at.

/**
 * Characters that change how their neighbours are shown: controls, and marks that turn the writing direction.
 * A command with one of them can read differently from what it does.
 */
const DECEIVING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;

/** Shows deceiving characters by their code, so that a command reads as what it is. */
export function revealed(text: string): string {
  return text.replace(DECEIVING, (character) => {
    if (character === "\r") return "";
    return `⟨${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/** One line for a title: white space folded, deceiving characters dropped. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").replace(DECEIVING, "").trim();
}

/** One line for a command: white space folded, deceiving characters shown. */
export function commandLine(text: string): string {
  return revealed(text.replace(/[ \t\r\n]+/g, " ").trim());
}

/** 158000 -> "158k". */
export function tokenWords(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  if (tokens < 999_500) return `${Math.round(tokens / 1000)}k`;
  return `${(tokens / 1_000_000).toFixed(1)}M`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

export function shortId(id: string): string {
  return oneLine(id).slice(0, 8);
}
