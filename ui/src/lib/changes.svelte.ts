// What changed in the repository of one chain, and its lines as the pane shows them.

import type { ChangedFile } from "./bindings/ChangedFile";
import type { Changes } from "./bindings/Changes";
import { type Host, reasonOf } from "./host/host";
import { plural } from "./text";
import type { DiffLine } from "./timeline/diff";

export class ChangesModel {
  page = $state.raw<Changes | undefined>(undefined);
  failure = $state("");
  readonly #host: Host;
  #looking = false;
  /** The session to look at once the present look is over. */
  #next: string | undefined;

  /** The files that the chain edited. */
  readonly own = $derived(this.page?.files.filter((file) => file.edits > 0) ?? []);
  /** The files that something else changed. */
  readonly others = $derived(this.page?.files.filter((file) => file.edits === 0) ?? []);

  /** "3 files +51 −3": what the chain edited; undefined while nothing is known of it. */
  readonly words = $derived.by(() => {
    const { added, removed } = sumOf(this.own);
    return this.own.length > 0 ? `${plural(this.own.length, "file")} +${added} −${removed}` : undefined;
  });

  constructor(host: Host) {
    this.#host = host;
  }

  /** Looks at the repository. One look goes on at a time; what is wanted meanwhile comes after it. */
  async load(session: string): Promise<void> {
    this.#next = session;
    if (this.#looking) return;
    this.#looking = true;
    while (this.#next !== undefined) {
      const wanted = this.#next;
      this.#next = undefined;
      try {
        [this.page, this.failure] = [await this.#host.ask("changes", { session: wanted }), ""];
      } catch (error) {
        [this.page, this.failure] = [undefined, reasonOf(error)];
      }
    }
    this.#looking = false;
  }
}

/** The lines of a file with their numbers, and a gap between the parts. */
export function linesOf(file: ChangedFile): DiffLine[] {
  const lines: DiffLine[] = [];
  for (const hunk of file.hunks) {
    if (lines.length > 0) lines.push({ kind: "gap", text: "" });
    let { before, after } = hunk;
    for (const { kind, text } of hunk.lines) {
      const numbers = { ...(kind === "added" ? {} : { before: before++ }), ...(kind === "removed" ? {} : { after: after++ }) };
      lines.push({ kind, text, ...numbers });
    }
  }
  return lines;
}

/** The lines that files gained and lost. */
export function sumOf(files: readonly ChangedFile[]): { added: number; removed: number } {
  return files.reduce((sum, { added, removed }) => ({ added: sum.added + added, removed: sum.removed + removed }), { added: 0, removed: 0 });
}
