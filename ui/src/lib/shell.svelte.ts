// The state of the shell: whether the window is a strip, and whether autostart is on.

import { type Host, reasonOf } from "./host/host";
import type { Command } from "./palette";

type MessageListener = { readonly says: (text: string) => void };

export class ShellModel {
  /** The window is a strip above all others. */
  compact = $state(false);
  /** Made-up sessions are shown. */
  demo = $state(false);
  /** The desktop starts the program; undefined until the shell has answered. */
  autostart: boolean | undefined = $state();

  #host: Host;
  #listener: MessageListener;

  constructor(host: Host, listener: MessageListener) {
    this.#host = host;
    this.#listener = listener;
  }

  /** Listens from now on. */
  async connect(): Promise<void> {
    try {
      await this.#host.subscribe({ to: "shell" }, (message) => {
        if (message.type === "compact") this.compact = message.on;
        else if (message.type === "demo") this.demo = message.on;
        else this.#listener.says(message.text);
      });
      this.autostart = await this.#host.ask("autostart");
    } catch {
      // The roster shows when the engine does not answer. A switch that cannot be read is not offered.
      this.autostart = undefined;
    }
  }

  /** The shell answers with a message, so that window and page change together. */
  async setCompact(on: boolean): Promise<void> {
    await this.#host.ask("set_compact", { on }).catch((error: unknown) => this.#listener.says(reasonOf(error)));
  }

  toggleCompact(): void {
    void this.setCompact(!this.compact);
  }

  /** The shell's commands in the palette. */
  commands(): Command[] {
    const name = this.autostart ? "Do not start with the desktop" : "Start with the desktop";
    return [
      { name: "Strip above all windows", key: "m", run: () => this.toggleCompact() },
      ...(this.autostart === undefined ? [] : [{ name, run: () => void this.toggleAutostart() }]),
    ];
  }

  async toggleAutostart(): Promise<void> {
    try {
      this.autostart = await this.#host.ask("set_autostart", { on: this.autostart !== true });
      this.#listener.says(this.autostart ? "Watchbill will start with the desktop, in the tray" : "Watchbill will not start by itself");
    } catch (error) {
      this.#listener.says(reasonOf(error));
    }
  }
}

/** A link that opens the window on a session, for a note, an issue or a chat. */
export function linkTo(sessionId: string): string {
  return `watchbill://session/${encodeURIComponent(sessionId)}`;
}
