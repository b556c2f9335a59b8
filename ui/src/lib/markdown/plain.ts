// Markdown as one plain line: without its marks, with its words. Pure.

type Span = readonly [start: number, end: number];

// Marks more than 400 characters apart stay: an unbounded search would take time that grows with the square of the
// text.

/** A run of backticks, its content, and the same run again. */
const CODE = /(?<!`)(`{1,3})(?!`)(.{0,400}?[^`])\1(?!`)/gsd;
/** A picture or a link; its words stay. */
const LINK = /(!?\[)([^[\]]{0,400})(\]\([^()\s]{0,2000}\))/gd;
/** The mark at the beginning of a line: a heading, a quote, a list item. */
const BEGINNING = /^[ \t]*((?:#{1,6}|>|[-*+])[ \t]+)/gmd;
/** Stars may be inside a word. Underscores may not: they are part of names. */
const STRONG = /(\*{2,3}|(?<![\p{L}\p{N}_])__)(?=\S)(.{1,400}?)(?<=\S)(\1)(?!\.?[\p{L}\p{N}_*])/gud;
const EMPHASIS = /(?<![\p{L}\p{N}*_\\])([*_])(?=[^\s*_])(.{0,400}?[^\s*_])(\1)(?![\p{L}\p{N}*_])/gud;

/** The text without the marks. */
export function plain(text: string): string {
  return plainParts([{ text }])[0]!.text;
}

/** The same for text in parts. A mark may reach from one part into the next. */
export function plainParts<Part extends { readonly text: string }>(parts: readonly Part[]): Part[] {
  const whole = parts.map((part) => part.text).join("");
  const dropped = marksIn(whole);
  if (dropped.size === 0) return [...parts];
  let at = 0;
  return parts.map((part) => {
    let text = "";
    for (let i = 0; i < part.text.length; i += 1, at += 1) if (!dropped.has(at)) text += part.text[i];
    return { ...part, text };
  });
}

/** The text in parts: inside backticks, and outside. */
export function codeIn(text: string): { text: string; code: boolean }[] {
  const parts: { text: string; code: boolean }[] = [];
  let at = 0;
  for (const match of text.matchAll(CODE)) {
    if (match.index > at) parts.push({ text: text.slice(at, match.index), code: false });
    parts.push({ text: match[2]!, code: true });
    at = match.index + match[0].length;
  }
  if (at < text.length || parts.length === 0) parts.push({ text: text.slice(at), code: false });
  return parts;
}

/** The positions of the marks. Characters inside code are no marks. */
function marksIn(text: string): Set<number> {
  const dropped = new Set<number>();
  if (!/[`*_#>[\]+-]/.test(text)) return dropped;
  const code: Span[] = [];
  const drop = ([start, end]: Span): void => {
    for (let i = start; i < end; i += 1) dropped.add(i);
  };
  for (const match of text.matchAll(CODE)) {
    const [whole, , inner] = match.indices!;
    code.push(inner!);
    drop([whole![0], inner![0]]);
    drop([inner![1], whole![1]]);
  }
  const isCode = ([start, end]: Span): boolean => code.some(([from, to]) => start < to && end > from);
  for (const [pattern, groups] of [[BEGINNING, [1]], [LINK, [1, 3]], [STRONG, [1, 3]], [EMPHASIS, [1, 3]]] as const) {
    // Of nested marks, the outer ones are dropped already. An inner mark that is left reads as text.
    for (const match of text.matchAll(pattern)) {
      const spans = groups.map((group) => match.indices![group]!);
      if (!spans.some(isCode)) spans.forEach(drop);
    }
  }
  return dropped;
}
