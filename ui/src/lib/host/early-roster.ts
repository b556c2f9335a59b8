// Asks for the roster before the window is built, so that the window is first drawn with its rows.

import type { RosterMessage } from "../bindings/RosterMessage";
import type { Host, Message, To, Topic } from "./host";

/** In milliseconds. If the rows take longer, as in a first reading of many transcripts, the window is drawn without them. */
const PATIENCE = 150;

/**
 * The host, with the roster already asked for. The first subscriber gets the messages that have come so far, and then
 * the rest.
 *
 * Resolves when the first rows are there, when the host fails, or after `PATIENCE`. It copies only the host's own
 * properties.
 */
export async function withEarlyRoster(host: Host): Promise<Host> {
  const come: RosterMessage[] = [];
  let hear = (message: RosterMessage): void => void come.push(message);
  // These marks are for `cargo xtask bench`, which reports where the time of a start goes.
  performance.mark("roster asked");
  let begun: () => void = () => {};
  const first = new Promise<void>((done) => (begun = done));
  let subscription: Promise<() => void> | undefined = host.subscribe({ to: "roster", all: false }, (message) => {
    if (message.type === "snapshot") performance.mark("roster come");
    hear(message);
    begun();
  });
  // The subscriber gets the error.
  subscription.catch(begun);
  await Promise.race([first, new Promise((done) => setTimeout(done, PATIENCE))]);
  return {
    ...host,
    subscribe<T extends Topic>(to: To<T>, onMessage: (message: Message<T>) => void) {
      if (to.to !== "roster") return host.subscribe(to, onMessage);
      const ahead = subscription;
      subscription = undefined;
      if (ahead === undefined) return host.subscribe(to, onMessage);
      if ((to as To<"roster">).all) {
        void ahead.then((end) => end(), () => undefined);
        return host.subscribe(to, onMessage);
      }
      hear = onMessage as typeof hear;
      for (const message of come.splice(0)) hear(message);
      return ahead;
    },
  };
}
