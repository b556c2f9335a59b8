// Made-up rows: sessions that programs started, and sessions whose calls a reviewer refused.

import type { TrackedSession } from "../../bindings/TrackedSession";
import { ago, row } from "./rows";

/** Nine runs of a hook and two of a nightly job in one folder, and one run alone. */
export function programRows(): TrackedSession[] {
  const run = (n: number, title: string, entrypoint: string, folder: string, failed = false): TrackedSession =>
    row({
      sessionId: `run-${entrypoint}-${n}`,
      title,
      cwd: folder,
      branch: "main",
      state: "ended",
      ...(failed ? { stateKind: "crashed" } : {}),
      stateSince: ago(600 + n * 300),
      startedBy: { entrypoint, folder, ...(failed ? { failed } : {}) },
    });
  return [
    ...Array.from({ length: 9 }, (_, n) => run(n, "Review the staged changes", "sdk-cli", "/home/dev/api-server", n === 2 || n === 5)),
    ...Array.from({ length: 2 }, (_, n) => run(n, "Summarise the day", "sdk-py", "/home/dev/infra")),
    run(0, "Translate the release notes", "sdk-ts", "/home/dev/site"),
  ];
}

/** One session that goes on after two refusals, and one that was refused three times in a row. */
export function refusedRows(): TrackedSession[] {
  const allow = (rule: string) => ({ rule, where: "permissions.allow in ~/.claude/settings.json, or in .claude/settings.json of the project" });
  return [
    row({
      sessionId: "refused-stuck",
      title: "Ship the hotfix",
      cwd: "/home/dev/api-server",
      branch: "hotfix/login",
      state: "working",
      stateSince: ago(4),
      permissionMode: "auto",
      refused: { count: 4, inARow: 3, stuck: true, last: { tool: "Bash", target: "git push origin main", at: ago(9), kind: "blocked", allow: allow("Bash(git push origin main)") } },
    }),
    row({
      sessionId: "refused-goes-on",
      title: "Clean up the old branches",
      cwd: "/home/dev/shop",
      branch: "main",
      state: "working",
      stateSince: ago(8),
      permissionMode: "auto",
      pendingTool: { tool: "Bash", target: "git branch --merged" },
      refused: { count: 2, inARow: 0, last: { tool: "Bash", target: "git branch -D release/1.9 && git push --delete origin release/1.9", at: ago(190), kind: "blocked" } },
    }),
  ];
}
