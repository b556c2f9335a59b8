// Made-up timelines for the mock host, computed item by item, so that 100,000 items cost no memory.

import type { TimelineItem } from "../../bindings/TimelineItem";
import type { WorkChain } from "../../bindings/WorkChain";
import { ago, ENGINE_START, iso } from "./rows";

const EDIT = JSON.stringify({
  file_path: "/home/dev/api-server/CHANGELOG.md",
  old_string: "# Changelog\n\n## 2.3.0\n\n- Fixed the pager.\n",
  new_string: "# Changelog\n\n## 2.4.0\n\n- Rows keep their place while read.\n- Fewer wake-ups.\n\n## 2.3.0\n\n- Fixed the pager.\n",
});

const ANSWER = `The changelog and version are ready. I ran the release checks:

| check | result |
| --- | --- |
| unit | 412 passed |
| snapshot | 1 updated, *reviewed* |

1. The only change in the snapshot is the **version string**.
2. \`package.json\` and the lock file agree.

\`\`\`ts
export const version = "2.4.0"; // <script> stays text
\`\`\`

> Publishing needs your word. See [the checklist](https://example.com/checklist).`;

type Sketch = TimelineItem extends infer T ? (T extends unknown ? Omit<T, "index" | "key" | "sessionId"> : never) : never;

/** The subagent of the story that has its own timeline. */
export const MOCK_AGENT = "b2d4f6a8c0e1";

const AGENT_STORY: readonly Sketch[] = [
  { at: ago(960), kind: "prompt", origin: "human", text: "Check the migration notes for dead links." },
  { at: ago(950), kind: "tool", id: "u1", tool: "Bash", target: "lychee docs/migration.md", input: '{"command":"lychee docs/migration.md"}', outcome: "error", output: "2 dead links: /guide/pager, /guide/cursor", durationMs: 9000 },
  { at: ago(905), kind: "response", text: "Two links were dead; both led to the old pager guide." },
];

/** The timeline of the story's subagent. */
export function agentTimeline(sessionId: string): MockTimeline {
  return { total: AGENT_STORY.length, at: itemsOf(AGENT_STORY, sessionId) };
}

const STORY: readonly Sketch[] = [
  { at: ago(2520), kind: "prompt", origin: "human", text: "Prepare the 2.4 release: changelog, version bump, tag, publish." },
  { at: ago(2510), kind: "thinking", text: "First the changelog, then the version, then the checks." },
  { at: ago(2508), kind: "tool", id: "t9", tool: "Read", target: "CHANGELOG.md", input: '{"file_path":"CHANGELOG.md"}', outcome: "ok", output: "# Changelog", durationMs: 20 },
  { at: ago(2500), kind: "tool", id: "t1", tool: "Edit", target: "CHANGELOG.md", input: EDIT, outcome: "ok", output: "The file has been updated.", durationMs: 100 },
  { at: ago(2480), kind: "tool", id: "t2", tool: "Bash", target: "npm version minor --no-git-tag-version", input: '{"command":"npm version minor --no-git-tag-version"}', outcome: "ok", output: "v2.4.0", durationMs: 800 },
  { at: ago(2300), kind: "tool", id: "t3", tool: "Task", target: "Review the public API", input: '{"description":"Review the public API"}', outcome: "ok", output: "No breaking change.", durationMs: 92_000 },
  { at: ago(2290), kind: "prompt", origin: "human", text: "Review the public API for breaking changes.", agentId: "a7c1" },
  { at: ago(2280), kind: "tool", id: "t4", tool: "Grep", target: "export function", input: '{"pattern":"export function"}', outcome: "ok", output: "src/index.ts:4", durationMs: 40, agentId: "a7c1" },
  { at: ago(2210), kind: "response", text: "No breaking change.", agentId: "a7c1" },
  { at: ago(1300), kind: "boundary", trigger: "manual", preTokens: 96_000, postTokens: 7_000 },
  { at: ago(1250), kind: "response", text: ANSWER },
  { at: ago(900), kind: "tool", id: "t8", tool: "Agent", target: "Check the migration notes", input: '{"description":"Check the migration notes"}', outcome: "ok", output: "Two links were dead.", durationMs: 64_000, subagent: { agentId: MOCK_AGENT, items: [] } },
  { at: ago(800), kind: "command", text: "/model opus" },
  { at: ago(700), kind: "note", text: "Turn ended after 1 min 12 s" },
  { at: ago(600), kind: "boundary", trigger: "auto", preTokens: 158_000, postTokens: 9_000 },
  { at: ago(500), kind: "prompt", origin: "task_notification", text: "Background command “watch the build” finished." },
  { at: ago(250), kind: "tool", id: "t5", tool: "Bash", target: "npm test -- --ci", input: '{"command":"npm test -- --ci"}', outcome: "error", output: "1 snapshot obsolete\nexit 1", durationMs: 48_000 },
  { at: ago(95), kind: "tool", id: "t6", tool: "Bash", target: "npm test -- --ci", input: '{"command":"npm test -- --ci"}', outcome: "ok", output: "412 passed", durationMs: 51_000 },
  { at: ago(60), kind: "interrupted" },
  { at: ago(55), kind: "prompt", origin: "human", text: "Go on, and publish." },
  { at: ago(38), kind: "tool", id: "t7", tool: "Bash", target: "npm publish --tag latest", input: '{"command":"npm publish --tag latest"}', outcome: "pending" },
];

const HOSTILE: readonly Sketch[] = [
  { kind: "prompt", origin: "human", text: '<script>window.pwned=1</scr' + 'ipt><img src=x onerror="window.pwned=1">' },
  { kind: "response", text: '<img src="https://evil.example/x.png" onerror="window.pwned=1">\n\n![pixel](https://evil.example/p.png) [click](javascript:window.pwned=1) [data](data:text/html,<script>window.pwned=1</script>)\n\n<iframe src="https://evil.example"></iframe>' },
  { kind: "response", text: `${">".repeat(3000)} deep` },
  { kind: "response", text: `${"[".repeat(2000)}${"*a ".repeat(2000)}` },
  { kind: "tool", id: "h", tool: "<b>Bash</b>", target: "echo \u202edlrow\u202c", input: '{"command": "cut', outcome: "strange", output: "\u001b[31mred\u001b[0m" },
  { kind: "response", text: "<style>*{background:u" + "rl(https://evil.example/s)}</style>\n\n<base href=https://evil.example/>\n\n<form action=https://evil.example><button>send</button></form>\n\n<svg><a xlink:href='javascript:window.pwned=1'><text>x</text></a></svg>\n\n<meta http-equiv=refresh content='0;url=https://evil.example'>" },
  { kind: "response", text: "[file](file:///etc/passwd) [rel](//evil.example/x) [blob](blob:x) [ref][r] <javascript:window.pwned=1> <https://good.example/\u202exyz> ![a](data:image/svg+xml,<svg/onload=window.pwned=1>) [mail](mailto:a@example.com)\n\n[r]: javascript:window.pwned=1 'title'" },
  { kind: "response", text: "A name \u202eturned\u202c around, \u2067isolated\u2069, `code \u202e`" },
  { kind: "prompt", origin: "human", text: "line ".repeat(50_000) },
  { kind: "response", text: `${"a.".repeat(20_000)}@` },
  { kind: "response", text: `${"- ".repeat(2000)}x` },
  { kind: "thinking", text: "thought ".repeat(30_000) },
  { kind: "error", text: "e".repeat(200_000) },
  { kind: "tool", id: "big", tool: "Write", target: "x".repeat(16_000), input: JSON.stringify({ file_path: "a", content: "a\n".repeat(8000) }), outcome: "ok", output: `\u001b[32mok\u001b[0m ${"out".repeat(5000)}` },
  { kind: "response", text: `${"wide".repeat(500)}\n\n| ${"a | ".repeat(60)}\n| ${"- | ".repeat(60)}\n` },
];

export function itemsOf(sketches: readonly Sketch[], sessionId: string): (index: number) => TimelineItem {
  return (index) => ({ ...(sketches[index] as Sketch), index, key: `${index}`, sessionId }) as TimelineItem;
}

export type MockTimeline = { total: number; at: (index: number) => TimelineItem };

const EARLIER = "0d1c2b3a-earlier";

/** The story. With `earlier`, the items before its first boundary belong to an earlier session. */
export function storyTimeline(sessionId: string, earlier = false): MockTimeline {
  if (!earlier) return { total: STORY.length, at: itemsOf(STORY, sessionId) };
  const before = STORY.findIndex((sketch) => sketch.kind === "boundary") + 1;
  const story = STORY.toSpliced(before, 0, { at: ago(1299), kind: "continued", to: sessionId, reason: "cwd_recency" });
  const at = itemsOf(story, sessionId);
  return { total: story.length, at: (index) => ({ ...at(index), sessionId: index < before ? EARLIER : sessionId }) };
}

/** A push that the agent's reviewer refuses, twice. */
export function refusedTimeline(sessionId: string): MockTimeline {
  const push = (seconds: number): Sketch => ({
    at: ago(seconds),
    kind: "tool",
    id: `push-${seconds}`,
    tool: "Bash",
    target: "git push origin main",
    input: '{"command":"git push origin main"}',
    outcome: "denied",
    refusal: "Pushes to the default branch of a shared repository, which the user did not ask for.",
    output: "Permission for this action was denied. Reason: Pushes to the default branch of a shared repository, which the user did not ask for.",
    durationMs: 1400,
  });
  const sketches: Sketch[] = [{ at: ago(90), kind: "prompt", origin: "human", text: "Fix the login and ship it" }, push(40), { at: ago(30), kind: "response", text: "I try once more." }, push(9)];
  return { total: sketches.length, at: itemsOf(sketches, sessionId) };
}

export function hostileTimeline(sessionId: string): MockTimeline {
  return { total: HOSTILE.length, at: itemsOf(HOSTILE, sessionId) };
}

/** `total` items of uneven height, one per second. */
export function endlessTimeline(sessionId: string, total: number): MockTimeline {
  return {
    total,
    at: (index) => {
      const at = iso(ENGINE_START - (total - index) * 1000);
      const base = { index, key: `${index}`, sessionId, at };
      if (index % 1000 === 999) return { ...base, kind: "boundary", trigger: "auto", preTokens: 150_000, postTokens: 8_000 };
      if (index % 7 === 0) return { ...base, kind: "prompt", origin: "human", text: `Prompt ${index}` };
      if (index % 5 === 0) return { ...base, kind: "response", text: `Answer ${index}. ${"Words that wrap over lines. ".repeat((index * 7) % 31)}` };
      return { ...base, kind: "tool", id: `t${index}`, tool: "Bash", target: `step ${index}`, input: `{"command":"step ${index}"}`, outcome: "ok", output: "done", durationMs: (index * 37) % 5000 };
    },
  };
}

/** Three segments in two sessions, a suggested link, and a fork. */
export function storyChain(sessionId: string, workChainId: string): WorkChain {
  return {
    workChainId,
    head: sessionId,
    segments: [
      { sessionId: EARLIER, index: 0, startedAt: ago(2520), endedAt: ago(1300), boundary: { trigger: "manual", preTokens: 96_000, postTokens: 7_000 }, transcriptPath: "/home/dev/.claude/projects/p/earlier.jsonl", superseded: true },
      { sessionId, index: 1, startedAt: ago(1300), endedAt: ago(600), boundary: { trigger: "auto", preTokens: 158_000, postTokens: 9_000 }, transcriptPath: "/home/dev/.claude/projects/p/now.jsonl", superseded: false },
      { sessionId, index: 2, startedAt: ago(600), transcriptPath: "/home/dev/.claude/projects/p/now.jsonl", superseded: false },
    ],
    links: [
      { from: EARLIER, to: sessionId, reason: "cwd_recency", confidence: "suggested" },
      { from: sessionId, to: "9e8d7c6b-branch", reason: "forked_from", confidence: "proven" },
    ],
  };
}

export function singleChain(sessionId: string, workChainId: string, startedAt: string): WorkChain {
  return {
    workChainId,
    head: sessionId,
    segments: [{ sessionId, index: 0, startedAt, transcriptPath: `/home/dev/.claude/projects/p/${sessionId}.jsonl`, superseded: false }],
    links: [],
  };
}
