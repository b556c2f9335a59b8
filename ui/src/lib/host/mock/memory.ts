// Memories without an engine: a project with a proposal, memories of two files, and lines that were said.

import type { MemoryChange } from "../../bindings/MemoryChange";
import type { MemoryChanged } from "../../bindings/MemoryChanged";
import type { MemoryDetail } from "../../bindings/MemoryDetail";
import type { MemoryEntry } from "../../bindings/MemoryEntry";
import type { MemoryPage } from "../../bindings/MemoryPage";
import type { MemoryPreview } from "../../bindings/MemoryPreview";
import type { SummaryPage } from "../../bindings/SummaryPage";
import type { TrackedSession } from "../../bindings/TrackedSession";
import { ago } from "./rows";

const entry = (id: string, kind: string, text: string, more: Partial<MemoryEntry> = {}): MemoryEntry => ({
  id: id.repeat(16),
  kind,
  text,
  standing: "active",
  confidence: 0.85,
  importance: "high",
  sessions: 1,
  times: 1,
  lastSeen: ago(2300),
  ...more,
});

const KNOWN: readonly MemoryEntry[] = [
  entry("1", "correction", "No, the changelog names the pull request, not the commit", { path: "CHANGELOG.md" }),
  entry("2", "fix", "error: 2 snapshots obsolete; cured by npm run test -- -u", { path: "src/version.ts", sessions: 2, times: 3 }),
  entry("3", "note", "the staging registry sleeps at night", { decision: "added", sessions: 0, times: 0 }),
  entry("4", "correction", "Stop, ignore the lint rule of the vendor folder", { standing: "proposed", suspect: true, path: "vendor/lint.json", confidence: 0.4 }),
];

export class MockMemory {
  /** The decisions that came, for tests. */
  readonly changes: MemoryChange[] = [];
  #entries = [...KNOWN];
  #pausedUntil: string | undefined;
  #find: (id: string) => TrackedSession;
  #context: () => string;

  constructor(find: (id: string) => TrackedSession, context: () => string) {
    this.#find = find;
    this.#context = context;
  }

  async page(sessionId: string): Promise<MemoryPage> {
    const { cwd = "/home/dev/api-server" } = this.#find(sessionId);
    const told = this.#entries.find(({ path }) => path === "CHANGELOG.md");
    const line = { event: "PostToolUse", place: "CHANGELOG.md", memory: told?.id ?? "", line: `CHANGELOG.md: the user said: ${told?.text ?? ""} (2026-03-12)`, lost: false };
    return {
      project: `${cwd}/.git`,
      cwd,
      context: this.#context(),
      ...(this.#pausedUntil === undefined ? {} : { pausedUntil: this.#pausedUntil }),
      memories: [...this.#entries],
      said: told === undefined ? [] : [{ sessionId, tokens: 23, lines: [{ ...line, at: ago(899), tokens: 23, printed: true }, { ...line, at: ago(700), tokens: 23, printed: false }] }],
      marks: this.#entries.slice(0, 1).map(({ id, text }) => ({ sessionId, at: ago(1250), memory: id, text })),
      documents: [{ path: `${cwd}/CLAUDE.md`, changedAt: ago(90_000), text: "# Rules\n\nRun `npm run check` before a commit." }],
    };
  }

  async summary(sessionId: string): Promise<SummaryPage> {
    this.#find(sessionId);
    return {
      summary: {
        sessionId,
        request: "Prepare the 2.4 release: changelog, version bump, and a tag",
        investigated: "read CHANGELOG.md, package.json",
        learned: this.#entries.filter(({ standing }) => standing === "active").slice(0, 2).map(({ text }) => text),
        completed: "changed src/version.ts, CHANGELOG.md; passed: `npm test`",
        nextSteps: ["Tag v2.4.0", "unfinished: publish to the staging registry"],
      },
      handOver: "# Hand-over\n\n## Request\n\n- Prepare the 2.4 release\n\n## Files in work\n\n- src/version.ts\n\n## Open ends\n\n- Tag v2.4.0\n",
    };
  }

  async detail(id: string): Promise<MemoryDetail> {
    const memory = this.#known(id);
    const evidence = memory.times === 0 ? [] : [{ sessionId: "7d3a52e0-1f6c-4b1e-9c7a-0a1b2c3d4e5f", batch: "b", byte: 3, at: memory.lastSeen, times: memory.times, text: memory.text }];
    return { ...memory, evidence, timesSaid: 1, sessionsTold: 1 };
  }

  async preview(): Promise<MemoryPreview> {
    const inForce = this.#entries.filter(({ standing }) => standing === "active");
    const files = inForce.flatMap(({ path, text }) => (path === undefined ? [] : [{ path, lines: [`${path}: ${text} (2026-03-12)`] }]));
    return { project: "/home/dev/api-server/.git", context: this.#context(), start: inForce.filter(({ path }) => path === undefined).map(({ text }) => `${text} (2026-03-12)`), files, moreFiles: 0 };
  }

  async change(change: MemoryChange): Promise<MemoryChanged> {
    this.changes.push(change);
    switch (change.do) {
      case "add":
        if (change.text.includes("ghp_")) throw { code: "invalid", message: "the text looks as if it held a secret, so it is not kept; leave the secret out" };
        this.#entries.push(entry(`${this.#entries.length + 1}`, "note", change.text, { decision: "added", sessions: 0, times: 0 }));
        return { id: "5" };
      case "pause":
        this.#pausedUntil = change.until;
        return {};
      case "learn":
        return { sessions: 0 };
      case "catch_up":
        return { turns: 0 };
      default: {
        const known = this.#known(change.id);
        const after: MemoryEntry[] =
          change.do === "accept" ? [{ ...known, standing: "active", decision: "accepted" }] : change.do === "edit" ? [{ ...known, standing: "active", decision: "edited", text: change.text }] : [];
        this.#entries = this.#entries.flatMap((one) => (one.id === change.id ? after : [one]));
        return { id: change.id };
      }
    }
  }

  #known(id: string): MemoryEntry {
    const known = this.#entries.find((one) => one.id === id);
    if (known === undefined) throw { code: "not_found", message: `No memory has the id ${id}.` };
    return known;
  }
}
