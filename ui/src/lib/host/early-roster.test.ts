import { expect, test, vi } from "vitest";

import type { RosterMessage } from "../bindings/RosterMessage";
import { withEarlyRoster } from "./early-roster";
import type { Host } from "./host";

const snapshot = (revision: number): RosterMessage => ({ type: "snapshot", revision, generatedAt: "", sessions: [], problems: [], reading: false });

/** A host that sends what the test tells it, to all present subscribers. */
class Line {
  readonly asked: boolean[] = [];
  ended = 0;
  fails: unknown;
  #listeners: ((message: RosterMessage) => void)[] = [];

  readonly host = {
    subscribe: async ({ all }: { all: boolean }, listener: (message: RosterMessage) => void) => {
      this.asked.push(all);
      if (this.fails !== undefined) throw this.fails;
      this.#listeners.push(listener);
      return () => void (this.ended += 1);
    },
  } as unknown as Host;

  say(message: RosterMessage, to = 0): void {
    this.#listeners[to]?.(message);
  }
}

test("the roster is asked for at once, and its first subscriber misses nothing", async () => {
  const line = new Line();
  const ahead = withEarlyRoster(line.host);
  expect(line.asked).toEqual([false]);
  line.say(snapshot(1));
  const host = await ahead;
  line.say(snapshot(2));
  const heard: number[] = [];
  const end = await host.subscribe({ to: "roster", all: false }, (message) => heard.push(message.type === "snapshot" ? message.revision : -1));
  line.say(snapshot(3));
  expect([heard, line.asked]).toEqual([[1, 2, 3], [false]]);
  end();
  expect(line.ended).toBe(1);
});

test("a second subscriber causes a subscription of its own", async () => {
  const line = new Line();
  const ahead = withEarlyRoster(line.host);
  line.say(snapshot(1));
  const host = await ahead;
  await host.subscribe({ to: "roster", all: false }, () => {});
  const heard: RosterMessage[] = [];
  await host.subscribe({ to: "roster", all: true }, (message) => heard.push(message));
  line.say(snapshot(2), 1);
  expect([line.asked, heard.length]).toEqual([[false, true], 1]);
});

test("a subscriber for all sessions does not get the default roster", async () => {
  const line = new Line();
  const ahead = withEarlyRoster(line.host);
  line.say(snapshot(1));
  const host = await ahead;
  const heard: RosterMessage[] = [];
  await host.subscribe({ to: "roster", all: true }, (message) => heard.push(message));
  expect([line.asked, heard, line.ended]).toEqual([[false, true], [], 1]);
});

test("a failure of the engine reaches the first subscriber, and the next one asks again", async () => {
  const line = new Line();
  line.fails = { message: "The engine has ended." };
  const host = await withEarlyRoster(line.host);
  await expect(host.subscribe({ to: "roster", all: false }, () => {})).rejects.toEqual(line.fails);
  line.fails = undefined;
  await host.subscribe({ to: "roster", all: false }, () => {});
  expect(line.asked).toEqual([false, false]);
});

test("a host with slow rows resolves without them", async () => {
  vi.useFakeTimers();
  const ahead = withEarlyRoster(new Line().host);
  await vi.advanceTimersByTimeAsync(1000);
  await expect(ahead).resolves.toBeDefined();
  vi.useRealTimers();
});
