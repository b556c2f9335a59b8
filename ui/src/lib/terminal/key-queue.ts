// Keys for a terminal, in the order in which they were typed.

import type { OwnCommand } from "../bindings/OwnCommand";
import { toBase64 } from "../base64";

/** Sends one command at a time. What is typed meanwhile goes with the next one. */
export class KeyQueue {
  #send: (command: OwnCommand) => Promise<void>;
  #onfailure: (error: unknown) => void;
  #typed: number[] = [];
  #next: OwnCommand[] = [];
  #busy = false;

  constructor(send: (command: OwnCommand) => Promise<void>, onfailure: (error: unknown) => void) {
    this.#send = send;
    this.#onfailure = onfailure;
  }

  type(text: string): void {
    this.bytes(new TextEncoder().encode(text));
  }

  bytes(bytes: Uint8Array): void {
    for (const byte of bytes) this.#typed.push(byte);
    void this.#go();
  }

  paste(text: string): void {
    this.#flush();
    this.#next.push({ do: "paste", text, enter: false });
    void this.#go();
  }

  /** Keys that were typed before come first. */
  #flush(): void {
    if (this.#typed.length === 0) return;
    this.#next.push({ do: "type", bytes: toBase64(Uint8Array.from(this.#typed)) });
    this.#typed = [];
  }

  async #go(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    try {
      for (;;) {
        if (this.#next.length === 0) this.#flush();
        const command = this.#next.shift();
        if (command === undefined) return;
        await this.#send(command);
      }
    } catch (error) {
      // What follows a lost key would mean something else.
      [this.#typed, this.#next] = [[], []];
      this.#onfailure(error);
    } finally {
      this.#busy = false;
    }
  }
}
