// Rows that the user marked, and the commands that act on all of them at once.

import type { SettingValue } from "../bindings/SettingValue";
import type { TrackedSession } from "../bindings/TrackedSession";
import type { UserCommand } from "../bindings/UserCommand";
import { type Host, reasonOf } from "../host/host";
import type { Command } from "../palette";
import type { Say } from "../session-actions";
import { snoozeChoices } from "../snooze";
import { plural } from "../text";
import { neighbourOf } from "./navigation";

type Marks = ReadonlySet<string>;

export class MarkedRows {
  #host: Host;
  #rows: () => readonly TrackedSession[];
  #isSeveral: (id: string) => boolean;
  #say: Say;
  #announce: (words: string) => void;
  #marks = $state.raw<Marks>(new Set());
  /** Where a range began and where it ends, and what was marked before it. */
  #range: { readonly from: string; readonly to: string; readonly before: Marks } | undefined;

  /** `rows`: those that the list shows, in its order. What is hidden is never acted on, nor is a row that stands for several runs. */
  constructor(host: Host, rows: () => readonly TrackedSession[], isSeveral: (id: string) => boolean, say: Say, announce: (words: string) => void) {
    this.#host = host;
    this.#rows = rows;
    this.#isSeveral = isSeveral;
    this.#say = say;
    this.#announce = announce;
  }

  /** The marked rows that the list shows. */
  get rows(): readonly TrackedSession[] {
    return this.#marks.size === 0 ? [] : this.#rows().filter((row) => this.has(row.sessionId));
  }

  readonly has = (id: string): boolean => this.#marks.has(id) && !this.#isSeveral(id);

  /** The next range begins at this row. */
  toggle(id: string): void {
    if (this.#isSeveral(id)) return this.#say("This row stands for several runs: Enter shows each");
    const marks = new Set(this.#marks);
    if (!marks.delete(id)) marks.add(id);
    this.#range = { from: id, to: id, before: marks };
    this.#mark(marks);
  }

  /** Marks all rows between the one where the range began and this one. If the list no longer has that one, the range begins here. */
  extend(from: string, to: string): void {
    const ids = this.#rows().map((row) => row.sessionId);
    const before = this.#range?.before ?? this.#marks;
    const begun = this.#range?.from ?? from;
    this.#range = ids.includes(begun) ? { from: begun, to, before } : { from: to, to, before: this.#marks };
    const [start, end] = [ids.indexOf(this.#range.from), ids.indexOf(to)];
    const way = ids.slice(Math.min(start, end), Math.max(start, end) + 1);
    this.#mark(new Set([...this.#range.before, ...way.filter((id) => !this.#isSeveral(id))]));
  }

  /** Marks on the way to the row this many rows further, and gives that row. */
  step(from: string | undefined, by: number): string | undefined {
    const to = neighbourOf(this.#rows().map((row) => row.sessionId), from, by);
    if (this.#range?.to !== from) this.endRange();
    if (to !== undefined) this.extend(from ?? to, to);
    return to;
  }

  /** The next range begins anew. */
  endRange(): void {
    this.#range = undefined;
  }

  readonly clear = (): void => {
    this.#range = undefined;
    this.#mark(new Set());
  };

  readonly snooze = (until: string): Promise<void> => this.#each("Snoozed", (session) => ({ do: "snooze", session, until }), (session) => ({ do: "snooze", session }));

  readonly putAway = (): Promise<void> => this.#each("Put away", (session) => ({ do: "put_away", session, away: true }), (session) => ({ do: "put_away", session, away: false }));

  /** Adds their repositories to the muted ones. Another folder may be the home folder, which would mute everything below it. */
  readonly mute = async (): Promise<void> => {
    const inRepository = this.rows.flatMap((row) => row.worktreeOf ?? row.repoRoot ?? []);
    const folders = new Set(inRepository);
    const without = this.rows.length - inRepository.length;
    if (folders.size === 0) return this.#say("Not muted: no marked session is in a repository");
    try {
      const muted = await this.#muted();
      const added = [...folders].filter((folder) => !muted.includes(folder));
      await this.#setMuted([...muted, ...added]);
      this.clear();
      const back = async (): Promise<void> => this.#setMuted((await this.#muted()).filter((folder) => !added.includes(folder)));
      const rest = without === 0 ? "" : `. Not those of ${plural(without, "session")} outside a repository`;
      this.#say(`Muted: ${folders.size === 1 ? [...folders][0] : plural(folders.size, "project")}${rest}`, () => void back().catch(this.#fail));
    } catch (error) {
      this.#fail(error);
    }
  };

  /** The same as the line below the list, with every choice. */
  commands(now: () => number): Command[] {
    const marked = this.rows.length;
    if (marked === 0) return [];
    const snoozes = snoozeChoices(now()).map(({ name }, i) => ({
      name: `Snooze the marked ${marked}: ${name.charAt(0).toLowerCase()}${name.slice(1)}`,
      run: () => void this.snooze(snoozeChoices(now())[i]?.until ?? ""),
    }));
    return [
      ...snoozes,
      { name: `Put away the marked ${marked}`, run: () => void this.putAway() },
      { name: `Mute the projects of the marked ${marked}`, run: () => void this.mute() },
      { name: "Unmark all", key: "Esc", run: this.clear },
    ];
  }

  #mark(marks: Marks): void {
    this.#marks = marks;
    this.#announce(`${this.rows.length} marked`);
  }

  readonly #fail = (error: unknown): void => this.#say(reasonOf(error));

  async #muted(): Promise<readonly string[]> {
    const value: SettingValue | undefined = (await this.#host.ask("settings")).settings.find(({ key }) => key === "alerts.muted")?.value;
    return Array.isArray(value) ? value : [];
  }

  async #setMuted(value: string[]): Promise<void> {
    await this.#host.ask("change_settings", { changes: [{ key: "alerts.muted", value }] });
  }

  /** One command for each, one notice, one Undo. Those that failed stay marked. */
  async #each(done: string, command: (session: string) => UserCommand, back: (session: string) => UserCommand): Promise<void> {
    const failed = new Map<string, unknown>();
    const ids = this.rows.map((row) => row.sessionId);
    for (const id of ids) await this.#host.ask("command", { command: command(id) }).catch((error: unknown) => failed.set(id, error));
    this.#range = undefined;
    this.#marks = new Set(failed.keys());
    const did = ids.filter((id) => !failed.has(id));
    if (did.length === 0) return this.#fail([...failed.values()][0]);
    const rest = failed.size === 0 ? "" : `. ${failed.size} failed: ${reasonOf([...failed.values()][0])}`;
    this.#say(`${done}: ${plural(did.length, "session")}${rest}`, () => did.forEach((id) => void this.#host.ask("command", { command: back(id) }).catch(this.#fail)));
  }
}
