// Asks for the roster before there is anything to show it in, so that the window is drawn once: with its rows.

import type { RosterMessage } from "../bindings/RosterMessage";
import type { Host } from "./host";

/** The window is drawn without its rows when these take longer, in milliseconds: the first reading of many transcripts does. */
const PATIENCE = 150;

/**
 * The host with the roster already asked for: whoever subscribes first gets what has come since, and then the rest. Resolves
 * when the first rows are there, when they cannot be had, or when they are not worth more waiting. Of the host only its own
 * properties are taken over.
 */
export async function askedAhead(host: Host): Promise<Host> {
  const come: RosterMessage[] = [];
  let hear = (message: RosterMessage): void => void come.push(message);
  // These marks are for `cargo xtask bench`: it tells where the time of a start goes.
  performance.mark("roster asked");
  let begun: () => void = () => {};
  const first = new Promise<void>((done) => (begun = done));
  let subscription: Promise<() => void> | undefined = host.subscribe(false, (message) => {
    if (message.type === "snapshot") performance.mark("roster come");
    hear(message);
    begun();
  });
  // Whoever subscribes is told why.
  subscription.catch(begun);
  await Promise.race([first, new Promise((done) => setTimeout(done, PATIENCE))]);
  return {
    ...host,
    subscribe(all, onMessage) {
      const ahead = subscription;
      subscription = undefined;
      if (ahead === undefined) return host.subscribe(all, onMessage);
      if (all) {
        void ahead.then((end) => end(), () => undefined);
        return host.subscribe(all, onMessage);
      }
      hear = onMessage;
      for (const message of come.splice(0)) onMessage(message);
      return ahead;
    },
  };
}
