// Markdown to tokens. Components show the tokens as text; no HTML is made from them.

import { marked, type Token } from "marked";

/** Longer answers are shown as plain text. */
const LONGEST = 40_000;
/** A word this long is no prose, and the time to search it for addresses grows with the square of its length. */
const LONG_WORD = /\S{1000}/;
/** This many quote and list marks in a row are no prose either. The parser would nest them all. */
const DEEP = /^[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]*){20}/m;

/** The blocks, or null if the text should be shown plain. */
export function parseMarkdown(text: string): Token[] | null {
  if (text.length > LONGEST || LONG_WORD.test(text) || DEEP.test(text)) return null;
  try {
    return marked.lexer(text, { gfm: true });
  } catch {
    return null;
  }
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** Decodes the entities in running text, as Markdown does. */
export function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos|nbsp));/g, (whole, dec, hex, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = dec === undefined ? parseInt(hex, 16) : parseInt(dec, 10);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
  });
}

/** Deeper quotes and lists are shown as plain text. */
export const DEEPEST = 12;

/** Only web and mail addresses are offered for copying. Any other link stays text. */
export function isAddress(href: unknown): boolean {
  return typeof href === "string" && /^(?:https?:\/\/|mailto:)[^\s]/i.test(href);
}
