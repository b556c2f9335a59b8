// Whether the user holds a view, perhaps by the thumb of its scrollbar. The thumb stands for a share of the whole: if
// the view is moved or grows meanwhile, the next move of the pointer scrolls elsewhere.

export class PointerHold {
  #let: AbortController | undefined;
  #waiting: (() => void)[] = [];

  get held(): boolean {
    return this.#let !== undefined;
  }

  /** A pointer was pressed on the view. */
  press(): void {
    this.#let?.abort();
    this.#let = new AbortController();
    const listening = { signal: this.#let.signal };
    for (const kind of ["pointerup", "pointercancel", "blur"]) addEventListener(kind, () => this.release(), listening);
    // Not every browser sends an event when a scrollbar is released.
    addEventListener("pointermove", (event) => event.buttons === 0 && this.release(), listening);
  }

  /** Resolves when the user no longer holds it. */
  async free(): Promise<void> {
    if (this.held) await new Promise<void>((done) => this.#waiting.push(done));
  }

  release(): void {
    this.#let?.abort();
    this.#let = undefined;
    for (const go of this.#waiting.splice(0)) go();
  }
}
