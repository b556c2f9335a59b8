// The window's interface to its surroundings. Only one implementation knows the desktop shell.

import type { AnswerCall } from "../bindings/AnswerCall";
import type { AnswerGiven } from "../bindings/AnswerGiven";
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
import type { ServiceState } from "../bindings/ServiceState";
import type { SettingChange } from "../bindings/SettingChange";
import type { SettingsView } from "../bindings/SettingsView";
import type { ShellMessage } from "../bindings/ShellMessage";
import type { ShortcutState } from "../bindings/ShortcutState";
import type { Timeline } from "../bindings/Timeline";
import type { TimelinePlace } from "../bindings/TimelinePlace";
import type { TrackedSession } from "../bindings/TrackedSession";
import type { Why } from "../bindings/Why";
import type { WorkChain } from "../bindings/WorkChain";
import type { MemoryHost } from "./memory";
import type { OwnHost } from "./own";

export interface Host {
  /** Sessions of our own. */
  readonly own: OwnHost;
  /** What was learned. */
  readonly memory: MemoryHost;
  /**
   * Sends a snapshot first and then deltas, until the returned function is called. With `all`, superseded and old
   * sessions come too.
   */
  subscribe(all: boolean, onMessage: (message: RosterMessage) => void): Promise<() => void>;
  why(sessionId: string): Promise<Why>;
  chain(sessionId: string): Promise<WorkChain>;
  /** The row of the chain's head, where the work of this session goes on, even if the roster does not show it. */
  head(sessionId: string): Promise<TrackedSession>;
  /** A part of the timeline of the session's whole work chain; without `from` the newest items. */
  timeline(sessionId: string, from: number | undefined, limit: number): Promise<Timeline>;
  /** The newest items. While a long timeline is not counted yet, they are indexed from 0. */
  newestItems(sessionId: string, limit: number): Promise<NewestItems>;
  /** A part of the timeline of one subagent of the chain. */
  agentTimeline(sessionId: string, agentId: string, from: number, limit: number): Promise<Timeline>;
  /** The place in the timeline of the record that begins at this byte of a transcript. */
  timelinePlace(sessionId: string, agentId: string | undefined, offset: number): Promise<TimelinePlace>;
  /** Searches all stored texts. */
  search(query: SearchQuery): Promise<SearchAnswer>;
  /**
   * Names the session's work chain; without a name it takes the title of its sessions. Each of these commands answers
   * with the new chain.
   */
  renameChain(sessionId: string, name: string | null): Promise<WorkChain>;
  joinChains(sessionId: string, withSessionId: string): Promise<WorkChain>;
  /** Makes the session begin a chain of its own. */
  splitChain(sessionId: string): Promise<WorkChain>;
  /** Accepts the suggested link into the session. */
  acceptLink(sessionId: string): Promise<WorkChain>;
  /** Rejects the suggested link. It is never suggested again. */
  rejectLink(sessionId: string): Promise<WorkChain>;
  /** Undoes the last join or split in the chain. */
  undoChain(sessionId: string): Promise<WorkChain>;
  /** Snoozes the session until then (RFC 3339); `null` ends a snooze. */
  snooze(sessionId: string, until: string | null): Promise<void>;
  /** Puts the session away until its next record, or brings it back. */
  putAway(sessionId: string, away: boolean): Promise<void>;
  doctor(): Promise<Doctor>;
  openFolder(sessionId: string): Promise<void>;
  /** Brings the session's terminal to the front, as far as possible. */
  focusTerminal(sessionId: string): Promise<FocusAnswer>;
  /** Answers the request that the user has seen. Rejects if the engine refuses the answer. */
  answer(call: AnswerCall): Promise<AnswerGiven>;
  /** The shell command that resumes the session. */
  resumeCommand(sessionId: string): Promise<string>;
  /** Mutes alerts until then (RFC 3339); `null` unmutes them. */
  mute(until: string | null): Promise<void>;
  /** Tells the engine which session the window shows in full (`null`: only the roster). That session raises no alerts. */
  lookingAt(sessionId: string | null): Promise<void>;
  copy(text: string | Promise<string>): Promise<void>;
  startDemo(): Promise<void>;
  settings(): Promise<SettingsView>;
  /** Sends the settings now and after every change, from any source, until the returned function is called. */
  subscribeSettings(onView: (view: SettingsView) => void): Promise<() => void>;
  /** Makes all changes or none. */
  changeSettings(changes: readonly SettingChange[]): Promise<SettingsView>;
  /** Shows the settings window. */
  openSettings(): Promise<void>;
  /** What the archive would hold and save. */
  archiveOffer(): Promise<ArchiveOffer>;
  /** Where the service over HTTP listens, and its token. */
  serviceState(): Promise<ServiceState>;
  /** The state of the hooks, scope by scope; empty in the demo. */
  hooksStatus(): Promise<HookSettings[]>;
  /** The change that a step would make in the user's settings below one of Claude Code's folders. */
  hooksPreview(root: string, step: HooksStep): Promise<HooksPreview>;
  /** Makes the change that the preview showed; `token` identifies that preview. */
  hooksChange(root: string, step: HooksStep, token: string): Promise<void>;
  /** The shell's messages: first whether the window is a strip, then the others as they come. */
  listen(onMessage: (message: ShellMessage) => void): Promise<void>;
  /** Makes the window a strip above all others, or the full window again. The answer comes as a message. */
  setCompact(on: boolean): Promise<void>;
  /** Whether the desktop starts the program. */
  autostart(): Promise<boolean>;
  /** Turns autostart on or off; resolves to the state afterwards. */
  setAutostart(on: boolean): Promise<boolean>;
  /** The global shortcut that opens the window, and whether it works. */
  shortcut(): Promise<ShortcutState>;
}

/** The engine answered that it does not know the thing. */
export function isNotFound(error: unknown): boolean {
  return codeOf(error) === "not_found";
}

/** The code of a failure of the engine. */
export function codeOf(error: unknown): string | undefined {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : undefined;
}

/** The reason of a failure, in words for the user, for any thrown value. */
export function reasonOf(error: unknown): string {
  if (typeof error === "string" && error !== "") return error;
  if (typeof error === "object" && error !== null && "message" in error) {
    const { message } = error as { message: unknown };
    if (typeof message === "string" && message !== "") return message;
  }
  return "The engine gave no answer.";
}
