// Notes on the lines of a diff, kept for each work chain while the window is open.

import type { DiffLine } from "./timeline/diff";

/** `text` is empty while it is being written. */
export type Note = { readonly path: string; readonly line: DiffLine; readonly text: string };

export class Notes {
  all = $state.raw<readonly Note[]>([]);

  // No derived value: one that is made for a pane ends with the pane, and the notes outlast it.
  get written(): readonly Note[] {
    return this.all.filter(({ text }) => text.trim() !== "");
  }

  of(path: string, line: DiffLine): Note | undefined {
    return this.all.find((note) => note.path === path && isSame(note.line, line));
  }

  /** Writes a note on a line; without a text, takes it away. */
  put(path: string, line: DiffLine, text: string | undefined): void {
    const known = this.of(path, line);
    if (text === undefined) this.all = this.all.filter((note) => note !== known);
    else if (known === undefined) this.all = [...this.all, { path, line, text }];
    else this.all = this.all.map((note) => (note === known ? { ...note, text } : note));
  }

  clear(): void {
    this.all = [];
  }

  /** The notes as one prompt, in the order in which they were begun: file, line, its text, the note. */
  words(): string {
    const number = ({ before, after }: DiffLine): string => (after === undefined ? `${before ?? ""}, removed` : String(after));
    return this.written.map(({ path, line, text }) => `${path}:${number(line)}\n> ${line.text.trim()}\n${text.trim()}`).join("\n\n");
  }
}

/** A line that another edit moved is another line. Its notes stay in the list. */
const isSame = (a: DiffLine, b: DiffLine): boolean => a.before === b.before && a.after === b.after && a.text === b.text;

const kept = new Map<string, Notes>();

/** The notes of a work chain. */
export function notesOf(chain: string): Notes {
  const notes = kept.get(chain) ?? new Notes();
  kept.set(chain, notes);
  return notes;
}
