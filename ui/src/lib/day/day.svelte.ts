// The day as the pane shows it: which day, which part of it, which stretch is chosen.

import type { Day } from "../bindings/Day";
import type { DayStretch } from "../bindings/DayStretch";
import { type Host, reasonOf } from "../host/host";
import { fitting, ms, showing, type View, whole, zoomed } from "./view";
import { dayBeside } from "./words";

/** A stretch, by its chain and its beginning: both outlast a new reading. */
export type Pick = { readonly chain: string; readonly from: string };

export class DayModel {
  readonly #host: Host;
  day: Day | undefined = $state.raw();
  failure = $state("");
  /** Absent: today. */
  date: string | undefined = $state();
  asTable = $state(false);
  pick: Pick | undefined = $state.raw();
  /** Absent: what fits. */
  #chosen: View | undefined = $state.raw();
  #asked = 0;

  readonly view: View | undefined = $derived(this.day && (this.#chosen ?? fitting(this.day)));
  readonly picked = $derived.by(() => {
    const chain = this.day?.chains.find(({ workChainId }) => workChainId === this.pick?.chain);
    const stretch = chain?.stretches.find(({ from }) => from === this.pick?.from);
    return chain && stretch && { chain, stretch };
  });

  constructor(host: Host, date?: string) {
    this.#host = host;
    this.date = date;
  }

  async load(): Promise<void> {
    const asked = ++this.#asked;
    try {
      const day = await this.#host.ask("day", this.date === undefined ? {} : { date: this.date });
      if (asked !== this.#asked) return;
      // Midnight has passed: what was chosen belongs to another day.
      if (this.day !== undefined && this.day.date !== day.date) [this.pick, this.#chosen] = [undefined, undefined];
      [this.day, this.failure] = [day, ""];
    } catch (error) {
      if (asked === this.#asked) this.failure = reasonOf(error);
    }
  }

  /** Reads the day again, unless it is over. */
  async refresh(): Promise<void> {
    if (this.day === undefined || this.day.now !== undefined) await this.load();
  }

  /** Another day; without one, today. */
  go(date: string | undefined): void {
    this.date = date;
    this.pick = undefined;
    this.#chosen = undefined;
    void this.load();
  }

  /** The day before or after the one that was asked for. Today is the last one. */
  step(by: number): void {
    if (this.day === undefined) return;
    const from = this.date ?? this.day.date;
    if (by > 0 && from === this.day.date && this.day.now !== undefined) return;
    this.go(dayBeside(from, by));
  }

  zoom(by: number): void {
    if (this.day === undefined || this.view === undefined) return;
    const around = this.picked ? (ms(this.picked.stretch.from) + ms(this.picked.stretch.to)) / 2 : ms(this.day.now ?? this.day.to);
    this.#chosen = zoomed(this.view, by, around, whole(this.day));
  }

  all(): void {
    if (this.day !== undefined) this.#chosen = whole(this.day);
  }

  choose(chain: string, stretch: DayStretch): void {
    this.pick = { chain, from: stretch.from };
    if (this.#chosen !== undefined && this.day !== undefined) this.#chosen = showing(this.#chosen, ms(stretch.from), whole(this.day));
  }

  /** The stretch beside the chosen one in its lane. */
  along(by: number): void {
    const { picked } = this;
    if (picked === undefined) return this.across(0);
    const next = picked.chain.stretches[picked.chain.stretches.indexOf(picked.stretch) + by];
    if (next !== undefined) this.choose(picked.chain.workChainId, next);
  }

  /** The stretch at the same time in a lane above or below. */
  across(by: number): void {
    const chains = this.day?.chains ?? [];
    const { picked } = this;
    const lane = picked === undefined ? 0 : chains.indexOf(picked.chain) + by;
    const chain = chains[Math.min(Math.max(lane, 0), chains.length - 1)];
    if (chain === undefined) return;
    const at = picked === undefined ? -Infinity : ms(picked.stretch.from);
    const there = chain.stretches.find(({ to }) => ms(to) > at) ?? chain.stretches.at(-1);
    if (there !== undefined) this.choose(chain.workChainId, there);
  }

  /** The next wait in time, or the one before. */
  wait(by: 1 | -1): void {
    const at = this.picked ? ms(this.picked.stretch.from) : by * -Infinity;
    const ahead = (stretch: DayStretch): number => (ms(stretch.from) - at) * by;
    const waits = (this.day?.chains ?? []).flatMap(({ workChainId, stretches }) =>
      stretches.filter((stretch) => stretch.doing === "waiting" && ahead(stretch) > 0).map((stretch) => ({ workChainId, stretch })),
    );
    const next = waits.reduce<(typeof waits)[number] | undefined>((best, wait) => (best && (ms(best.stretch.from) - ms(wait.stretch.from)) * by <= 0 ? best : wait), undefined);
    if (next !== undefined) this.choose(next.workChainId, next.stretch);
  }

  /** Where the timeline has the chosen stretch. */
  async place(): Promise<{ sessionId: string; offset: number | undefined } | undefined> {
    const stretch = this.picked?.stretch;
    if (stretch === undefined) return undefined;
    const offset = await this.#host.ask("byte_at", { session: stretch.sessionId, at: stretch.from });
    return { sessionId: stretch.sessionId, offset: offset ?? undefined };
  }
}
