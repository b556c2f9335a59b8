// Writes the host's messages into a terminal view: a drawn screen first, then output, never more than the view can take.

import type { OwnSize } from "../bindings/OwnSize";

/** The part of xterm.js that is needed, with or without a page. */
export type Sheet = {
  write(data: Uint8Array, done?: () => void): void;
  resize(columns: number, rows: number): void;
  reset(): void;
};

/** As much output may wait to be drawn, in bytes. xterm.js itself loses data at 50 MB. */
const MOST_WAITING = 4_000_000;

export class Feed {
  /** Nothing is typed while a screen is drawn, and before the first one. */
  muted = true;

  #sheet: Sheet;
  #waiting = 0;
  #behind = false;
  /** Rises with each screen. What was written before it has no effect any more. */
  #screen = 0;
  /** The view is too slow: a new screen is needed in place of the output. */
  #onbehind: () => void;

  constructor(sheet: Sheet, onbehind: () => void) {
    this.#sheet = sheet;
    this.#onbehind = onbehind;
  }

  screen(bytes: Uint8Array, { cols, rows }: OwnSize, drawn: () => void = () => undefined): void {
    const screen = ++this.#screen;
    this.muted = true;
    this.#behind = false;
    this.#waiting = 0;
    this.#sheet.reset();
    this.#sheet.resize(cols, rows);
    this.#sheet.write(bytes, () => {
      if (screen !== this.#screen) return;
      this.muted = false;
      drawn();
    });
  }

  output(bytes: Uint8Array): void {
    if (this.#behind) return;
    const screen = this.#screen;
    this.#waiting += bytes.length;
    if (this.#waiting > MOST_WAITING) {
      this.#behind = true;
      this.muted = true;
      this.#onbehind();
      return;
    }
    this.#sheet.write(bytes, () => {
      if (screen === this.#screen) this.#waiting -= bytes.length;
    });
  }
}
