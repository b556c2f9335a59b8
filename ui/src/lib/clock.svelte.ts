// The engine's clock as the window sees it: one shared timer, set for the next word that changes, none while hidden.

import { untilNextWord } from "./age";

export class EngineClock {
  /** The engine's time in milliseconds; it moves only when an age on the screen does. */
  now = $state(Date.now());
  #engineAt = Date.now();
  #localAt = Date.now();
  #sinces: number[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    document.addEventListener("visibilitychange", () => this.#tick());
  }

  /** Takes the engine's time from a message. */
  sync(generatedAt: string): void {
    const engineAt = Date.parse(generatedAt);
    this.#engineAt = Number.isNaN(engineAt) ? Date.now() : engineAt;
    this.#localAt = Date.now();
    this.#tick();
  }

  /** The engine's time at this moment, for what begins with a key or a click. */
  at(): number {
    return this.#engineAt + Math.max(0, Date.now() - this.#localAt);
  }

  /** The moments whose ages are in sight: for others nobody is woken. */
  show(sinces: readonly string[]): void {
    this.#sinces = sinces.map((since) => Date.parse(since));
    this.#tick();
  }

  #tick(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (document.hidden) return;
    this.now = this.at();
    let wait = Infinity;
    for (const since of this.#sinces) wait = Math.min(wait, untilNextWord(this.now - since));
    // A second at least: ages that change close together share one wake-up.
    if (wait !== Infinity) this.#timer = setTimeout(() => this.#tick(), Math.max(wait, 1000));
  }
}
