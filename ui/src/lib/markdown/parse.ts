// Markdown to tokens. Tokens are shown by components as text: no HTML is ever made from them.

import { marked, type Token } from "marked";

/** Longer answers are shown as they are. */
const LONGEST = 40_000;
/** A word so long is no prose; the search for addresses in it takes time that grows with its square. */
const LONG_WORD = /\S{1000}/;
/** So many marks of quotes and lists in a row are no prose either, and the parser takes them one inside the other. */
const DEEP = /^[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]*){20}/m;

/** The blocks, or null when the text had better be shown plain. */
export function parseMarkdown(text: string): Token[] | null {
  if (text.length > LONGEST || LONG_WORD.test(text) || DEEP.test(text)) return null;
  try {
    return marked.lexer(text, { gfm: true });
  } catch {
    return null;
  }
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** Entities in running text, as Markdown has them. */
export function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos|nbsp));/g, (whole, dec, hex, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = dec === undefined ? parseInt(hex, 16) : parseInt(dec, 10);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
  });
}

/** Quotes and lists nested deeper than this are shown as they are written. */
export const DEEPEST = 12;

/** Only addresses of the web and of mail are offered for copying; anything else stays the text it is. */
export function isAddress(href: unknown): boolean {
  return typeof href === "string" && /^(?:https?:\/\/|mailto:)[^\s]/i.test(href);
}
