// A line diff, for edits.

export type DiffLine = {
  readonly kind: "same" | "added" | "removed" | "gap";
  readonly text: string;
  /** Number of the line before the change, from 1, where it is known. */
  readonly before?: number;
  /** Number of the line after the change. */
  readonly after?: number;
};

/** Above this many cells the table would cost too much. Then all old lines are removed and all new ones added. */
const MOST_CELLS = 400_000;

export function lineDiff(before: string, after: string): DiffLine[] {
  const a = linesOf(before);
  const b = linesOf(after);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let endA = a.length;
  let endB = b.length;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA -= 1;
    endB -= 1;
  }
  const same = (text: string): DiffLine => ({ kind: "same", text });
  return [
    ...a.slice(0, start).map(same),
    ...middle(a.slice(start, endA), b.slice(start, endB)),
    ...a.slice(endA).map(same),
  ];
}

function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Longest common subsequence of the part between the common start and end. */
function middle(a: readonly string[], b: readonly string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ kind: "removed", text });
  const added = (text: string): DiffLine => ({ kind: "added", text });
  if (a.length * b.length > MOST_CELLS) return [...a.map(removed), ...b.map(added)];
  const width = b.length + 1;
  const table = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      table[i * width + j] =
        a[i] === b[j]
          ? table[(i + 1) * width + j + 1]! + 1
          : Math.max(table[(i + 1) * width + j]!, table[i * width + j + 1]!);
    }
  }
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: "same", text: a[i]! });
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && table[(i + 1) * width + j]! >= table[i * width + j + 1]!)) {
      lines.push(removed(a[i++]!));
    } else {
      lines.push(added(b[j++]!));
    }
  }
  return lines;
}

export function diffCounts(lines: readonly DiffLine[]): { added: number; removed: number } {
  let added = 0;
  let removed = 0;
  for (const line of lines) {
    if (line.kind === "added") added += 1;
    if (line.kind === "removed") removed += 1;
  }
  return { added, removed };
}

/** What differs in a line that replaces another: where it begins and ends in the text. */
export type Mark = readonly [from: number, to: number];

/** The marks of lines, by number of line. Removed lines and as many added ones below them replace each other. */
export function marksOf(lines: readonly DiffLine[]): Map<number, Mark> {
  const marks = new Map<number, Mark>();
  const runFrom = (kind: DiffLine["kind"], from: number): number => {
    let to = from;
    while (lines[to]?.kind === kind) to += 1;
    return to - from;
  };
  for (let at = 0; at < lines.length; at += 1) {
    const removed = runFrom("removed", at);
    if (removed === 0) continue;
    if (runFrom("added", at + removed) === removed) {
      for (let i = at; i < at + removed; i += 1) {
        const [old, fresh] = differing(lines[i]!.text, lines[i + removed]!.text);
        if (old === undefined || fresh === undefined) continue;
        marks.set(i, old);
        marks.set(i + removed, fresh);
      }
    }
    at += removed - 1;
  }
  return marks;
}

/** What is between the equal words at the beginning and at the end of two lines; nothing if little is equal. */
function differing(a: string, b: string): [Mark, Mark] | [undefined, undefined] {
  const words = (text: string): string[] => text.match(/[\p{L}\p{N}_]+|\s+|./gu) ?? [];
  const [old, fresh] = [words(a), words(b)];
  const most = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < most && old[start] === fresh[start]) start += 1;
  let end = 0;
  while (end < most - start && old.at(-1 - end) === fresh.at(-1 - end)) end += 1;
  const length = (parts: string[]): number => parts.join("").length;
  const [head, tail] = [length(old.slice(0, start)), length(end === 0 ? [] : old.slice(-end))];
  // Lines with little in common are other lines, and a mark on all of both says nothing.
  if (old.slice(0, start).concat(end === 0 ? [] : old.slice(-end)).join("").trim().length * 4 < Math.min(a.trim().length, b.trim().length)) return [undefined, undefined];
  return [[head, a.length - tail], [head, b.length - tail]];
}
