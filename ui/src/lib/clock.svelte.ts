// The engine's clock in the window. One shared timer fires when the next visible age changes; there is none while the
// window is hidden.

import { untilNextWord } from "./age";

export class EngineClock {
  /** The engine's time in milliseconds. It advances only when a visible age changes. */
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

  /** The engine's time at this moment, for actions that begin with a key or a click. */
  at(): number {
    return this.#engineAt + Math.max(0, Date.now() - this.#localAt);
  }

  /** Sets the moments whose ages are in view. Other ages cause no timer. */
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
    // At least a second: ages that change close together share one timer.
    if (wait !== Infinity) this.#timer = setTimeout(() => this.#tick(), Math.max(wait, 1000));
  }
}
