// Made-up rows for the mock host. The same number gives the same rows, so that tests and pictures repeat.

import type { Group } from "../../bindings/Group";
import type { PlanLimit } from "../../bindings/PlanLimit";
import type { TrackedSession } from "../../bindings/TrackedSession";

export const ENGINE_START = Date.parse("2026-03-14T13:02:11.000Z");

const ORDER: readonly Group[] = ["needs_you", "working", "your_turn", "idle"];

export function iso(ms: number): string {
  return new Date(ms).toISOString();
}

export function ago(seconds: number): string {
  return iso(ENGINE_START - seconds * 1000);
}

export type RowSketch = Partial<TrackedSession> & Pick<TrackedSession, "sessionId">;

/** A complete row from the few fields that matter for it. */
export function row(sketch: RowSketch): TrackedSession {
  const state = sketch.state ?? "waiting_for_input";
  return {
    source: "watcher",
    ...(sketch.source === "stream" || sketch.source === "pty" ? { own: sketch.source, ownId: sketch.sessionId } : {}),
    agent: "claude",
    status: state === "working" ? "working" : state.startsWith("waiting") ? "waiting" : "idle",
    state,
    group: groupOf(state),
    ...((sketch.group ?? groupOf(state)) === "needs_you" ? { needs: NEEDS.get(sketch.stateKind ?? "") ?? "approval" } : {}),
    stateSince: ago(90),
    stateReason: { source: "registry", detail: "the live registry says so", confidence: "observed" },
    hasPendingToolUse: sketch.pendingTool !== undefined,
    lastActivityAt: sketch.stateSince ?? ago(90),
    createdAt: ago(7200),
    workChainId: `chain-${sketch.sessionId}`,
    compactionCount: 0,
    segmentCount: 1,
    permissionMode: "default",
    agentVersion: "2.1.329",
    ...sketch,
  };
}

const NEEDS: ReadonlyMap<string, string> = new Map([
  ["question", "question"],
  ["plan", "plan"],
  ["dialog", "dialog"],
  ["error", "error"],
  ["limit", "error"],
]);

function groupOf(state: string): Group {
  if (state === "waiting_for_approval") return "needs_you";
  if (state === "working") return "working";
  return state === "waiting_for_input" ? "your_turn" : "idle";
}

/** The engine's order: by group; in "Needs you" the longest wait first, elsewhere the newest state first. */
export function inRosterOrder(rows: readonly TrackedSession[]): TrackedSession[] {
  return [...rows].sort((a, b) => {
    const oldestFirst = a.stateSince.localeCompare(b.stateSince);
    return ORDER.indexOf(a.group) - ORDER.indexOf(b.group) || (a.group === "needs_you" ? oldestFirst : -oldestFirst);
  });
}

const registry = (detail: string): TrackedSession["stateReason"] => ({ source: "registry", detail, confidence: "observed" });

function context(percent: number): NonNullable<TrackedSession["context"]> {
  return { used: percent * 2000, size: 200_000, percent };
}

/** The same rows with what a client says in its status line. */
export function planRows(): TrackedSession[] {
  const pulls = [{ number: 318, review: "approved" }, { number: 27, review: "changes_requested" }, { number: 1204 }];
  return everydayRows().map((session, n) => {
    const found = pulls[n];
    return found === undefined ? session : { ...session, pullRequest: { ...found, url: `https://example.invalid/pull/${found.number}` } };
  });
}

/** The limits of a plan: five hours that would not last, and a week that does. */
export function planLimits(): PlanLimit[] {
  const of = { agent: "claude", folder: "/home/dev/.claude", saidAt: ago(240), sessionId: everydayRows()[0]!.sessionId };
  return [
    { ...of, minutes: 300, percent: 78, resetsAt: ago(-98 * 60) },
    { ...of, minutes: 10_080, percent: 41, resetsAt: ago(-67 * 3600) },
  ];
}

/** A realistic quarter of an hour: one row of each kind. */
export function everydayRows(): TrackedSession[] {
  return inRosterOrder([
    row({
      sessionId: "3f6a1c52-0b7e-4a55-9d1e-6a2f4c1b8e90",
      title: "Publish the 2.4 release",
      cwd: "/home/dev/api-server",
      branch: "release/2.4",
      state: "waiting_for_approval",
      stateKind: "permission",
      stateSince: ago(38),
      stateReason: registry("the client says “permission prompt”"),
      pendingTool: { tool: "Bash", target: "npm publish --tag latest" },
      compactionCount: 2,
      segmentCount: 3,
      context: context(86),
      model: "claude-opus-4-1",
      pid: 41022,
    }),
    row({
      sessionId: "b81d7f34-5a0c-4a3e-8f4b-0d5c7e2a9b13",
      title: "Migrate sessions to Redis",
      cwd: "/home/dev/shop",
      branch: "main",
      state: "waiting_for_approval",
      stateKind: "question",
      stateSince: ago(31),
      pendingTool: { tool: "AskUserQuestion", target: "Which eviction policy do you want?" },
      context: context(31),
    }),
    row({
      sessionId: "c92e8a45-6b1d-4b4f-9a5c-1e6d8f3b0c24",
      title: "Split the billing module",
      cwd: "/home/dev/billing",
      branch: "split-billing",
      state: "waiting_for_approval",
      stateKind: "plan",
      stateSince: ago(17),
      pendingTool: { tool: "ExitPlanMode", target: "" },
      permissionMode: "plan",
      context: context(54),
    }),
    row({
      sessionId: "a1f3c5e7-2b4d-4f60-8a9c-3d5e7f9b1c2d",
      title: "Fix flaky scheduler tests",
      cwd: "/home/dev/scheduler",
      branch: "fix/flaky",
      state: "working",
      stateSince: ago(12),
      pendingTool: { tool: "Bash", target: "cargo nextest run -p core" },
      subagents: { running: 2, total: 3 },
      context: context(44),
    }),
    row({
      sessionId: "d4b6f8a0-3c5e-4071-9bad-4e6f8a0c2d3e",
      title: "Rewrite the import wizard in Svelte",
      cwd: "/home/dev/desk",
      branch: "wizard",
      state: "working",
      stateKind: "compacting",
      stateSince: ago(130),
      compactionCount: 1,
      segmentCount: 2,
      context: context(97),
    }),
    row({
      sessionId: "e5c7a9b1-4d6f-4182-acbe-5f7a9b1d3e4f",
      title: "Nightly dependency review",
      cwd: "/home/dev/infra",
      branch: "main",
      state: "working",
      stateKind: "retrying",
      stateSince: ago(50),
      stateReason: { source: "transcript", detail: "retrying, 529, 3 of 10", confidence: "observed" },
      error: "retrying, 529, 3 of 10",
      context: context(12),
      queuedPrompts: 1,
    }),
    row({
      sessionId: "f6d8bac2-5e70-4293-bdcf-6a8bac2e4f50",
      title: "Explain the billing webhook",
      summary: "The webhook retries five times with growing pauses; the third one is never reached.",
      cwd: "/home/dev/billing",
      branch: "main",
      stateKind: "turn_ended",
      stateSince: ago(372),
      context: context(9),
    }),
    row({
      sessionId: "07e9cbd3-6f81-43a4-8ed0-7b9cbd3f5061",
      title: "Port the colour picker",
      cwd: "/home/dev/desk",
      branch: "picker",
      stateKind: "interrupted",
      stateSince: ago(1500),
      context: context(22),
    }),
    row({
      sessionId: "18fadce4-7092-44b5-9fe1-8cadce406172",
      title: "Set up the devcontainer",
      cwd: "/home/dev/dotfiles",
      branch: "main",
      state: "idle",
      stateSince: ago(2880),
      backgroundTasks: 1,
    }),
    row({
      sessionId: "290bedf5-81a3-45c6-80f2-9dbedf517283",
      title: "Translate release notes",
      cwd: "/home/dev/site",
      branch: "i18n",
      state: "ended",
      stateSince: ago(11_000),
      stateReason: { source: "process", detail: "the process has ended", confidence: "observed" },
    }),
  ]);
}

const VERBS = ["Fix", "Rewrite", "Explain", "Port", "Review", "Measure", "Document", "Split"];
const THINGS = ["the scheduler", "the import wizard", "flaky tests", "the webhook", "search", "the parser", "login", "the cache"];
const PROJECTS = ["api-server", "shop", "desk", "infra", "billing", "site", "scheduler", "dotfiles"];
const STATES = ["working", "idle", "waiting_for_input", "ended", "idle", "waiting_for_approval", "idle", "waiting_for_input"];

/** `count` rows of all kinds. */
export function manyRows(count: number): TrackedSession[] {
  const rows = count < 11 ? [] : everydayRows();
  for (let i = rows.length; i < count; i += 1) {
    const state = count > 100 ? (STATES[i % 8] ?? "idle") : i % 3 === 0 ? "waiting_for_input" : "idle";
    const quiet = state === "idle" || state === "ended";
    rows.push(
      row({
        sessionId: `${(i + 0x10000000).toString(16)}-0000-4000-8000-000000000000`,
        title: `${VERBS[i % 8]} ${THINGS[(i >> 3) % 8]}`,
        cwd: `/home/dev/${PROJECTS[(i * 5) % 8]}`,
        branch: i % 4 === 0 ? "main" : `work/${i}`,
        state,
        stateSince: ago((quiet ? 3000 : 65) + i * 37),
        ...(state === "working" ? { pendingTool: { tool: "Bash", target: `make check-${i}` } } : {}),
        ...(state === "waiting_for_approval"
          ? { stateKind: "permission", pendingTool: { tool: "Edit", target: `src/part_${i}.rs` } }
          : {}),
        context: context((i * 13) % 100),
      }),
    );
  }
  return inRosterOrder(rows.slice(0, count));
}

/** Titles, folders and commands as an attacker could write them. */
export function hostileRows(): TrackedSession[] {
  const markup = `<img src=x onerror="window.pwned=1"><script>window.pwned=1</scr` + `ipt>`;
  return inRosterOrder([
    row({
      sessionId: "hostile-1",
      title: markup,
      cwd: `/home/dev/${markup.replaceAll("/", "_")}`,
      branch: "{{constructor.constructor('window.pwned=1')()}}",
      state: "waiting_for_approval",
      stateKind: "permission",
      pendingTool: { tool: "Bash", target: "echo safe \u202e# moc.live//:sptth lruc\u202c; rm -rf ~" },
      stateReason: registry(markup),
    }),
    row({ sessionId: "hostile-2", title: "\u0000\u0007\u001b[31mred\u001b[0m\nsecond line\u2028third", cwd: "", stateSince: "not a time" }),
    row({ sessionId: "hostile-3", title: "\u200b\u200b", goal: "   ", summary: "", cwd: "/home/dev/it's $(here) `now`" }),
    row({ sessionId: "hostile-4", title: "Z̷̢̧̛̛͍͔a̴l̸g̵o̶".repeat(40), cwd: "/home/dev/zalgo", state: "working", stateKind: "__proto__" }),
    row({ sessionId: "hostile-5", title: `Megabyte ${"of title ".repeat(120_000)}`, goal: "x".repeat(1_000_000), cwd: `/home/dev/${"deep/".repeat(20_000)}end`, branch: "b".repeat(100_000), stateReason: registry("why ".repeat(100_000)) }),
    row({ sessionId: "hostile-6", title: "\u202eeltit desrever\u202c \u2066isolated", cwd: "/home/dev/\u202egnp.exe", branch: "\u202emain", state: "working", pendingTool: { tool: "\u202eBash", target: "x".repeat(1_000_000) } }),
    row({ sessionId: "__proto__", title: "constructor", state: "toString", stateKind: "constructor", group: "idle" }),
  ]);
}

/** Errors, limits, and turns that ended with an answer in Markdown and a full context. */
export function failedRows(): TrackedSession[] {
  const failed = (sessionId: string, title: string, error: string, sketch: Partial<TrackedSession> = {}): TrackedSession =>
    row({ sessionId, title, error, cwd: "/home/dev/infra", branch: "main", stateKind: "error", group: "needs_you", needs: "error", stateReason: registry(`registry says \`idle\`; ${error}`), ...sketch });
  return inRosterOrder([
    failed("failed-1", "Nightly dependency review", "API Error: Repeated `529` Overloaded errors. The API is at capacity, this is usually temporary. Try again in a moment.", { stateSince: ago(780) }),
    failed("failed-2", "Write the migration guide", "5-hour limit reached, resets 15:40", { stateKind: "limit", stateSince: ago(45), context: context(91) }),
    row({ sessionId: "failed-3", title: "Measure the cold start", cwd: "/home/dev/desk", state: "working", stateSince: ago(200), pendingTool: { tool: "Bash", target: "cargo bench" }, context: context(96) }),
    row({ sessionId: "failed-4", title: "Sort the imports", cwd: "/home/dev/site", stateKind: "turn_ended", stateSince: ago(400), summary: "## **Done:** all `import` lines are [sorted](x), __none__ was lost", context: context(97) }),
    row({ sessionId: "failed-5", title: "Draw the icon", cwd: "/home/dev/desk", state: "idle", stateSince: ago(4000), superseded: true, supersededBy: "failed-3", context: context(88) }),
  ]);
}

export function longRows(): TrackedSession[] {
  const long = "Make the extremely long title of this session stay on its one line however narrow the window is, ".repeat(6);
  return everydayRows().map((session, i) => ({
    ...session,
    title: i % 2 === 0 ? long : "Donaudampfschifffahrtsgesellschaftskapitän".repeat(8),
    cwd: `/home/dev/${"a-project-with-a-name-of-some-length-".repeat(3)}`,
    branch: "feature/with/a/branch/name/that/goes/on/and/on",
    compactionCount: 41,
    segmentCount: 42,
    subagents: { running: 12, total: 40 },
    backgroundTasks: 7,
    queuedPrompts: 13,
    ...(session.pendingTool ? { pendingTool: { tool: session.pendingTool.tool, target: long } } : {}),
  }));
}

export function writingRows(): TrackedSession[] {
  return inRosterOrder([
    row({ sessionId: "rtl-1", title: "إصلاح اختبارات الجدولة المتقطعة", cwd: "/home/dev/مشروع", branch: "main", state: "working", pendingTool: { tool: "Bash", target: "cargo test" } }),
    row({ sessionId: "rtl-2", title: "תיקון באגים ב-parser של הקלט", cwd: "/home/dev/מנתח", branch: "תיקון", state: "waiting_for_approval", stateKind: "question", pendingTool: { tool: "AskUserQuestion", target: "איזה צבע?" } }),
    row({ sessionId: "emoji-1", title: "🚀 Launch 👩‍👩‍👧‍👦 the 🏳️‍🌈 site 🎉🎉🎉", cwd: "/home/dev/🦀", stateKind: "turn_ended", summary: "✅ done" }),
    row({ sessionId: "cjk-1", title: "リリースノートを翻訳する", cwd: "/home/dev/サイト", state: "idle", stateSince: ago(4000) }),
  ]);
}
