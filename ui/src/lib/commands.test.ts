import { expect, test, vi } from "vitest";

import { type CommandActions, muteCommand, sessionCommands } from "./commands";
import { row } from "./host/mock/rows";

const NOW = Date.parse("2026-03-14T13:00:00.000Z");
const nothing = (): void => undefined;

function means(more: Partial<CommandActions> = {}): CommandActions & { words: { snooze: ReturnType<typeof vi.fn>; putAway: ReturnType<typeof vi.fn> } } {
  const words = { snooze: vi.fn(), putAway: vi.fn(), copyRule: nothing, copyResume: nothing, copyLink: nothing, copyExport: nothing, openFolder: nothing };
  return { now: () => NOW, focus: nothing, rename: nothing, join: nothing, forget: nothing, ...more, words };
}

const run = (name: string, session = row({ sessionId: "a" }), how = means()): typeof how => {
  sessionCommands(session, how).find((command) => command.name === name)!.run();
  return how;
};

test("the palette offers the same commands as the session's menu", () => {
  const names = sessionCommands(row({ sessionId: "a" }), means()).map((command) => command.name);
  for (const name of ["Rename", "Snooze: 15 minutes", "Snooze: 1 hour", "Snooze: until tomorrow, 9:00", "Put away until something new happens", "Join with another session…"]) expect(names).toContain(name);
});

test("a snooze begins when it is chosen, even if the palette was open for long", () => {
  let now = NOW;
  const how = means({ now: () => now });
  const snooze = sessionCommands(row({ sessionId: "a" }), how).find((command) => command.name === "Snooze: 15 minutes")!;
  now += 3_600_000;
  snooze.run();
  expect(how.words.snooze).toHaveBeenCalledWith("2026-03-14T14:15:00.000Z");
});

test("a snoozed or put-away session offers the reverse command", () => {
  expect(run("End the snooze", row({ sessionId: "a", snoozedUntil: "2026-03-14T15:00:00.000Z" })).words.snooze).toHaveBeenCalledWith(null);
  expect(run("Put away until something new happens").words.putAway).toHaveBeenCalledWith(true);
  expect(run("Show in the roster again", row({ sessionId: "a", putAway: true })).words.putAway).toHaveBeenCalledWith(false);
});

test("alerts can be muted for an hour, or unmuted", () => {
  const mute = vi.fn();
  muteCommand(undefined, () => NOW, mute).run();
  muteCommand("2026-03-14T15:00:00.000Z", () => NOW, mute).run();
  expect(mute.mock.calls).toEqual([["2026-03-14T14:00:00.000Z"], [null]]);
});
