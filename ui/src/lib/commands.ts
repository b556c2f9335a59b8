// The palette's commands for the selected session and for alerts.

import { clockWords } from "./age";
import type { TrackedSession } from "./bindings/TrackedSession";
import type { SessionActions } from "./session-actions";
import { type Intent, MODIFIER } from "./keys";
import type { Command } from "./palette";
import { snoozeChoices } from "./snooze";
import { isBackground } from "./terminal.svelte";

const HOUR_MS = 3_600_000;

/** The window's functions that the commands call. */
export type CommandActions = {
  /** Called when a command is chosen, because the palette may stay open for long. */
  readonly now: () => number;
  readonly words: Pick<SessionActions, "snooze" | "putAway" | "copyRule" | "copyResume" | "copyLink" | "copyExport" | "openFolder">;
  readonly focus: () => void;
  readonly rename: () => void | Promise<void>;
  readonly join: () => void;
  readonly forget: () => void;
};

/** Commands that are keys too. */
export const KEYED: readonly (readonly [name: string, key: string, intent: Intent])[] = [
  ["Next session that needs you", "n", { do: "next" }],
  ["New session…", "N", { do: "new" }],
  ["The day", "t", { do: "day" }],
  ["Usage", "u", { do: "usage" }],
  ["Past alerts", "l", { do: "alerts" }],
  ["Refused calls", "x", { do: "refused" }],
  ["Sessions that programs started, one by one", "p", { do: "programs" }],
  ["Group by project, and back", "g p", { do: "by-project" }],
  ["Settings", `${MODIFIER} ,`, { do: "settings" }],
  ["Keyboard", "?", { do: "help" }],
];

/** The same commands as the session's pane and its menu. */
export function sessionCommands(session: TrackedSession, { now, words, ...actions }: CommandActions): Command[] {
  const snoozes = snoozeChoices(now()).map(({ name }, i) => ({
    name: `Snooze: ${name.charAt(0).toLowerCase()}${name.slice(1)}`,
    run: () => words.snooze(snoozeChoices(now())[i]?.until ?? null),
  }));
  const awake: Command[] = session.snoozedUntil === undefined ? [] : [{ name: "End the snooze", run: () => words.snooze(null) }];
  const away: Command =
    session.putAway === true
      ? { name: "Show in the roster again", run: () => void words.putAway(false) }
      : { name: "Put away until something new happens", run: () => void words.putAway(true) };
  const rule: Command[] = session.refused?.last.allow === undefined ? [] : [{ name: "Copy the rule that would allow the refused call", key: "r", run: () => words.copyRule(session) }];
  return [
    ...(isBackground(session) ? [] : [{ name: "Focus the terminal", key: "f", run: actions.focus }]),
    { name: `Copy the ${session.attachCommand ? "attach" : "resume"} command`, key: "c", run: words.copyResume },
    { name: "Copy a link to the session", run: words.copyLink },
    { name: "Open the folder", key: "o", run: words.openFolder },
    { name: "Rename", run: () => void actions.rename() },
    ...rule,
    ...awake,
    ...snoozes,
    away,
    { name: "Join with another session…", run: actions.join },
    { name: "Copy the command that exports it", run: words.copyExport },
    { name: "Forget the history of this work…", run: actions.forget },
  ];
}

/** Mutes or unmutes alerts. */
export function muteCommand(mutedUntil: string | undefined, now: () => number, mute: (until: string | null) => void): Command {
  if (mutedUntil !== undefined) return { name: `Unmute alerts (muted until ${clockWords(mutedUntil)})`, run: () => mute(null) };
  return { name: "Mute alerts for an hour", run: () => mute(new Date(now() + HOUR_MS).toISOString()) };
}
