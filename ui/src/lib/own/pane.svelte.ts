// The own session that the pane shows. The row may become one, or its work may go on under another host.

import type { TrackedSession } from "../bindings/TrackedSession";
import type { Host } from "../host/host";
import { hasTranscript, ownId, ownKind } from "./own";
import { OwnSession } from "./session.svelte";

export class OwnPane {
  /** Attached, while the row is one with pipes. A terminal attaches by itself while it is shown. */
  session = $state.raw<OwnSession | undefined>();

  #host: Pick<Host, "ask" | "subscribe">;
  #ended = false;

  constructor(host: Pick<Host, "ask" | "subscribe">, row: TrackedSession) {
    this.#host = host;
    this.follow(row);
  }

  /** Takes the row after each change. */
  follow(row: TrackedSession): void {
    const id = ownKind(row) === "stream" ? ownId(row) : undefined;
    const wentOn = this.#ended && row.state !== "ended";
    this.#ended = row.state === "ended";
    if (id === this.session?.id) {
      // Another host runs it now: the user has resumed it. The row may say so twice, and the user types already.
      const isHere = this.session?.contact === "live" && this.session.facts.ended === undefined;
      if (wentOn && !isHere) void this.session?.connect();
      return;
    }
    this.close();
    if (id === undefined) return;
    this.session = new OwnSession(this.#host, id, !hasTranscript(row));
    void this.session.connect();
  }

  close(): void {
    this.session?.close();
    this.session = undefined;
  }
}
