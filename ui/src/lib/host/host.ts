// What the window needs from its surroundings. Only an implementation of this knows the desktop shell.

import type { ArchiveOffer } from "../bindings/ArchiveOffer";
import type { Doctor } from "../bindings/Doctor";
import type { HookSettings } from "../bindings/HookSettings";
import type { HooksPreview } from "../bindings/HooksPreview";
import type { HooksStep } from "../bindings/HooksStep";
import type { FocusAnswer } from "../bindings/FocusAnswer";
import type { NewestItems } from "../bindings/NewestItems";
import type { RosterMessage } from "../bindings/RosterMessage";
import type { SearchAnswer } from "../bindings/SearchAnswer";
import type { SearchQuery } from "../bindings/SearchQuery";
import type { SettingChange } from "../bindings/SettingChange";
import type { SettingsView } from "../bindings/SettingsView";
import type { ShellMessage } from "../bindings/ShellMessage";
import type { ShortcutState } from "../bindings/ShortcutState";
import type { Timeline } from "../bindings/Timeline";
import type { TimelinePlace } from "../bindings/TimelinePlace";
import type { TrackedSession } from "../bindings/TrackedSession";
import type { Why } from "../bindings/Why";
import type { WorkChain } from "../bindings/WorkChain";

export interface Host {
  /**
   * Hands over a snapshot first and then deltas, until the returned function is called.
   * With `all`, superseded sessions and those that rest for long come too.
   */
  subscribe(all: boolean, onMessage: (message: RosterMessage) => void): Promise<() => void>;
  why(sessionId: string): Promise<Why>;
  chain(sessionId: string): Promise<WorkChain>;
  /** The row of the session in which the work of this one goes on, also where the roster leaves it out. */
  head(sessionId: string): Promise<TrackedSession>;
  /** A stretch of the timeline of the session's whole work chain; without `from` the newest items. */
  timeline(sessionId: string, from: number | undefined, limit: number): Promise<Timeline>;
  /** The newest items; of a timeline that takes long to be read and counted they are indexed from 0. */
  newestItems(sessionId: string, limit: number): Promise<NewestItems>;
  /** A stretch of the timeline of one subagent of the chain. */
  agentTimeline(sessionId: string, agentId: string, from: number, limit: number): Promise<Timeline>;
  /** Where the record that begins at this byte of a transcript stands in the timeline. */
  timelinePlace(sessionId: string, agentId: string | undefined, offset: number): Promise<TimelinePlace>;
  /** Over everything that is stored. */
  search(query: SearchQuery): Promise<SearchAnswer>;
  /** Names the session's work chain; without a name it is called as its sessions call themselves. Each answers with the chain as it is then. */
  renameChain(sessionId: string, name: string | null): Promise<WorkChain>;
  joinChains(sessionId: string, withSessionId: string): Promise<WorkChain>;
  /** The session begins a chain of its own. */
  splitChain(sessionId: string): Promise<WorkChain>;
  /** The suggested link into the session is right. */
  acceptLink(sessionId: string): Promise<WorkChain>;
  /** It is wrong, and is never suggested again. */
  rejectLink(sessionId: string): Promise<WorkChain>;
  /** Takes back what was last joined or split in the chain. */
  undoChain(sessionId: string): Promise<WorkChain>;
  /** The session needs nobody until then (RFC 3339); `null` ends a snooze. */
  snooze(sessionId: string, until: string | null): Promise<void>;
  /** Puts the session away until something new happens in it, or takes it back. */
  putAway(sessionId: string, away: boolean): Promise<void>;
  doctor(): Promise<Doctor>;
  openFolder(sessionId: string): Promise<void>;
  /** Brings the session's terminal to the front, as far as that goes. */
  focusTerminal(sessionId: string): Promise<FocusAnswer>;
  /** The line for a shell that takes the session up again. */
  resumeCommand(sessionId: string): Promise<string>;
  /** No alerts until then (RFC 3339); `null` ends it. */
  mute(until: string | null): Promise<void>;
  /** The window shows this session in full, or the roster alone: nothing has to be told of what is looked at. */
  lookingAt(sessionId: string | null): Promise<void>;
  copy(text: string | Promise<string>): Promise<void>;
  startDemo(): Promise<void>;
  settings(): Promise<SettingsView>;
  /** Hands over the settings now and after every change, whoever made it, until the returned function is called. */
  subscribeSettings(onView: (view: SettingsView) => void): Promise<() => void>;
  /** All of them or none. */
  changeSettings(changes: readonly SettingChange[]): Promise<SettingsView>;
  /** Shows the window of the settings. */
  openSettings(): Promise<void>;
  /** What archiving transcripts would take and save. */
  archiveOffer(): Promise<ArchiveOffer>;
  /** How the hooks are, scope by scope; nothing where there are none to speak of. */
  hooksStatus(): Promise<HookSettings[]>;
  /** What a step would change in the person's settings below one of the agent's folders. */
  hooksPreview(root: string, step: HooksStep): Promise<HooksPreview>;
  /** Makes the change that was shown; `token` says which one that was. */
  hooksChange(root: string, step: HooksStep, token: string): Promise<void>;
  /** What the shell has to say: first whether the window is a strip, then whatever comes. */
  listen(onMessage: (message: ShellMessage) => void): Promise<void>;
  /** Makes the window a strip above all others, or the window that it was; the answer comes as a message. */
  setCompact(on: boolean): Promise<void>;
  /** Whether the desktop starts the program. */
  autostart(): Promise<boolean>;
  /** Turns that on or off, and says what is so afterwards. */
  setAutostart(on: boolean): Promise<boolean>;
  /** The key that opens the window from anywhere, and whether it works. */
  shortcut(): Promise<ShortcutState>;
}

/** The engine has answered, and knows of no such thing. */
export function isNotFound(error: unknown): boolean {
  return typeof error === "object" && error !== null && "code" in error && error.code === "not_found";
}

/** What went wrong, in words for the person, whatever was thrown. */
export function reasonOf(error: unknown): string {
  if (typeof error === "string" && error !== "") return error;
  if (typeof error === "object" && error !== null && "message" in error) {
    const { message } = error as { message: unknown };
    if (typeof message === "string" && message !== "") return message;
  }
  return "The engine gave no answer.";
}
