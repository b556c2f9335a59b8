// The usage as the pane shows it: which days, by which measure, which day is chosen.

import type { LimitUse } from "../bindings/LimitUse";
import type { UsagePage } from "../bindings/UsagePage";
import { type Host, reasonOf } from "../host/host";
import type { Measure } from "./usage";

export class UsageModel {
  readonly #host: Host;
  page: UsagePage | undefined = $state.raw();
  limits: readonly LimitUse[] = $state.raw([]);
  failure = $state("");
  days = $state(30);
  measure: Measure = $state("cost");
  /** The chosen day; absent: the last one. */
  date: string | undefined = $state();
  #asked = 0;

  readonly day = $derived(this.page?.days.find(({ date }) => date === this.date) ?? this.page?.days.at(-1));

  constructor(host: Host) {
    this.#host = host;
  }

  async load(days = this.days): Promise<void> {
    const asked = ++this.#asked;
    this.days = days;
    try {
      const [page, limits] = await Promise.all([this.#host.ask("usage", { days }), this.#host.ask("limit_use")]);
      if (asked === this.#asked) [this.page, this.limits, this.failure] = [page, limits, ""];
    } catch (error) {
      if (asked === this.#asked) this.failure = reasonOf(error);
    }
  }

  /** The day before or after the chosen one. */
  move(by: number): void {
    if (this.page === undefined || this.day === undefined) return;
    const next = this.page.days[this.page.days.indexOf(this.day) + by];
    if (next !== undefined) this.date = next.date;
  }
}
