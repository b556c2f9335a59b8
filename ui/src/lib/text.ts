// Makes text from transcripts safe to show.

import type { Context } from "./bindings/Context";

/**
 * Characters that change how their neighbours are shown, or are invisible: controls, direction marks, fillers, tags. A
 * command with one of them can read differently from what it does.
 */
const DECEIVING =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** The subset that reverses running text or is no text. Single direction marks are not in it: some scripts need them. */
const TURNING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Terminal escape sequences (colours, cursor movements) in the output of programs. */
const TERMINAL = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]{0,2000}(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

/** A title is short; megabytes of it never reach the page. */
const LONGEST_TITLE = 300;
const LONGEST_COMMAND = 600;

/** Shows deceiving characters by their code, so that a command shows what it does. */
export function revealed(text: string): string {
  return text.replace(DECEIVING, (character) => {
    if (character === "\r") return "";
    return `⟨${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/** Running text, without the characters that would reverse it or its neighbours. */
export function prose(text: string): string {
  return text.replace(TURNING, "");
}

/** A program's output: without terminal escapes, with the other invisible characters shown. */
export function outputText(text: string): string {
  return revealed(text.replace(TERMINAL, ""));
}

/** One line for a title: white space folded, deceiving characters dropped, long text cut. */
export function oneLine(text: string, most = LONGEST_TITLE): string {
  const folded = cut(text, most * 8).replace(/\s+/g, " ").replace(DECEIVING, "").trim();
  return shortened(folded, text, most);
}

/** One line for a command: white space folded, deceiving characters shown. */
export function commandLine(text: string, most = LONGEST_COMMAND): string {
  const folded = cut(text, most * 8).replace(/[ \t\r\n]+/g, " ").trim();
  return revealed(shortened(folded, text, most));
}

function shortened(folded: string, whole: string, most: number): string {
  return folded.length > most || whole.length > most * 8 ? `${cut(folded, most)}…` : folded;
}

/** The beginning of a text, without half a character at its end. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? most - 1 : most);
}

/** 158000 -> "158k". */
export function tokenWords(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  if (tokens < 999_500) return `${Math.round(tokens / 1000)}k`;
  return `${(tokens / 1_000_000).toFixed(1)}M`;
}

/** How full the context is; if the size is not known, only the number of tokens. */
export function contextWords({ used, size, percent }: Context): string {
  if (percent === undefined) return `${tokenWords(used)} tokens in the context`;
  const of = size === undefined ? `${tokenWords(used)} tokens` : `${tokenWords(used)} of ${tokenWords(size)} tokens`;
  return `context ${Math.round(percent)} % full: ${of}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

export function shortId(id: string): string {
  // Some agents begin each id with a word, and opencode goes on with a time.
  const word = id.slice(0, 8).indexOf("_") + 1;
  return oneLine(id).slice(0, word > 0 ? word + 9 : 8);
}
