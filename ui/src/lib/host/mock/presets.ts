// The presets of the mock host, by name: its first state and its script. Chosen by `?mock=NAME`.

import type { Changes } from "../../bindings/Changes";
import type { Day } from "../../bindings/Day";
import type { Doctor } from "../../bindings/Doctor";
import type { PlanLimit } from "../../bindings/PlanLimit";
import type { TrackedSession } from "../../bindings/TrackedSession";
import type { WorkChain } from "../../bindings/WorkChain";
import { longChanges } from "./changes";
import { emptyDay, fullDay } from "./day";
import { ownRows } from "./own";
import { askingRows } from "./requests";
import { programRows, refusedRows } from "./programs";
import { ENGINE_START, everydayRows, failedRows, hostileRows, inRosterOrder, iso, longRows, manyRows, planLimits, planRows, row, writingRows } from "./rows";
import { endlessTimeline, hostileTimeline, type MockTimeline, refusedTimeline, storyTimeline } from "./timelines";

/** One step of a script: after this many milliseconds, rows change and others are removed. */
export type Step = { readonly afterMs: number; readonly upserts?: readonly TrackedSession[]; readonly removals?: readonly string[] };

export type Preset = {
  readonly rows: readonly TrackedSession[];
  readonly script?: readonly Step[];
  readonly timelines?: (session: TrackedSession) => MockTimeline;
  readonly chains?: (session: TrackedSession) => WorkChain;
  readonly fails?: string;
  readonly reading?: boolean;
  readonly limits?: readonly PlanLimit[];
  /** Whether hooks are installed; by default they are. */
  readonly hooks?: boolean;
  /** A folder is not there, the hooks are missing, and a file could not be read. */
  readonly unwell?: boolean;
  readonly day?: () => Day;
  readonly changes?: Changes;
  /** The window begins as a strip. */
  readonly compact?: boolean;
  /** Very many rows with so many changes a second, instead of `rows`. */
  readonly flood?: { readonly sessions: number; readonly perSecond: number };
};

const NO_TIMELINE: MockTimeline = {
  total: 0,
  at: (index) => {
    throw new RangeError(`no item ${index}`);
  },
};

export const UNWELL: Doctor = {
  versions: { watchbill: "0.1.0", agents: ["2.1.329"] },
  roots: [
    { agent: "claude", path: "/home/dev/.claude", exists: true, watch: "poll", sessions: 10, files: 12, bytes: 4_000_000 },
    { agent: "claude", path: "/mnt/gone/.claude", exists: false, watch: "none", sessions: 0, files: 0, bytes: 0 },
  ],
  registry: { readable: false, files: 0, live: 0 },
  limits: [{ name: "fs.inotify.max_user_watches", value: 128, needed: 412, enough: false }],
  problems: [],
};

export function presetNamed(name: string): Preset {
  if (/^\d+$/.test(name)) return { rows: manyRows(Number(name)) };
  switch (name) {
    case "empty":
      return { rows: [], day: () => ({ ...emptyDay("2026-03-14"), now: iso(ENGINE_START) }) };
    case "long-change":
      return { rows: everydayRows(), changes: longChanges };
    case "full-day":
      return { rows: everydayRows(), day: () => fullDay(200) };
    case "first":
      return { rows: [], hooks: false };
    case "unseen":
      return { rows: everydayRows().filter(({ group }) => group !== "needs_you").map((session) => ({ ...session, unseen: session.group === "your_turn" })) };
    case "unhooked":
      return { rows: everydayRows(), hooks: false };
    case "reading":
      return { rows: [], reading: true };
    case "failing":
      return { rows: [], fails: "The folder /home/dev/.claude could not be read: permission denied. Check who owns it." };
    case "unwell":
      return { rows: everydayRows(), unwell: true };
    case "long":
      return { rows: longRows() };
    case "writing":
      return { rows: writingRows() };
    case "hostile":
      return { rows: hostileRows(), timelines: (session) => hostileTimeline(session.sessionId) };
    case "endless":
      return { rows: everydayRows(), timelines: (session) => endlessTimeline(session.sessionId, 100_000) };
    case "flood":
      return { rows: [], flood: { sessions: 2000, perSecond: 50 }, timelines: (session) => endlessTimeline(session.sessionId, 100_000) };
    case "failed":
      return { rows: failedRows() };
    case "own":
      return { rows: ownRows(), timelines: (session) => (session.sessionId === "own-works" ? storyTimeline(session.sessionId, false) : NO_TIMELINE) };
    case "refused":
      return { rows: inRosterOrder([...refusedRows(), ...everydayRows()]), timelines: (session) => (session.refused ? refusedTimeline : storyTimeline)(session.sessionId) };
    case "programs":
      return { rows: inRosterOrder([...everydayRows(), ...programRows()]) };
    case "background":
      return { rows: everydayRows().map((session, n) => (n < 2 ? { ...session, terminal: undefined, attachCommand: `claude attach ${n}3eb2880` } : session)) };
    case "asking":
      return { rows: askingRows() };
    case "plan":
      return { rows: planRows(), limits: planLimits() };
    case "compact":
      return { rows: everydayRows(), compact: true };
    case "lively":
      return { rows: everydayRows(), script: livelyScript() };
    default:
      return { rows: everydayRows() };
  }
}

/** A minute of ordinary work: a tool ends, a session asks, a session is superseded. */
function livelyScript(): Step[] {
  const rows = everydayRows();
  const [publishing] = rows;
  const testing = rows.find((session) => session.title === "Fix flaky scheduler tests");
  if (publishing === undefined || testing === undefined) return [];
  const { pendingTool: _, stateKind: __, ...rest } = publishing;
  const after = "5a4b3c2d-1e0f-4a9b-8c7d-6e5f4a3b2c1d";
  return [
    { afterMs: 3000, upserts: [{ ...testing, pendingTool: { tool: "Edit", target: "src/scheduler.rs" }, stateSince: iso(ENGINE_START + 3000) }] },
    { afterMs: 6000, upserts: [row({ ...rest, state: "working", group: "working", status: "working", hasPendingToolUse: false, stateSince: iso(ENGINE_START + 6000) })] },
    { afterMs: 9000, upserts: [{ ...testing, state: "waiting_for_approval", group: "needs_you", needs: "approval", stateKind: "permission", pendingTool: { tool: "Bash", target: "rm -rf target" }, stateSince: iso(ENGINE_START + 9000) }] },
    {
      afterMs: 12_000,
      upserts: [
        { ...publishing, superseded: true, supersededBy: after, group: "idle", state: "idle", hasPendingToolUse: false },
        row({ ...rest, sessionId: after, workChainId: publishing.workChainId, state: "working", group: "working", status: "working", compactionCount: 3, segmentCount: 4, stateSince: iso(ENGINE_START + 12_000) }),
      ],
    },
  ];
}
