// Made-up changes of a repository.

import type { ChangedFile } from "../../bindings/ChangedFile";
import type { Changes } from "../../bindings/Changes";
import type { DiffLine } from "../../bindings/DiffLine";
import { ENGINE_START, iso } from "./rows";

const at = (minutes: number): string => iso(ENGINE_START - minutes * 60_000);
const line = (kind: DiffLine["kind"]) => (text: string): DiffLine => ({ kind, text });
const [same, added, removed] = [line("same"), line("added"), line("removed")];

const file = (path: string, rest: Partial<ChangedFile>): ChangedFile => {
  const lines = rest.hunks?.flatMap((hunk) => hunk.lines) ?? [];
  const count = (kind: DiffLine["kind"]): number => lines.filter((one) => one.kind === kind).length;
  return { path, fate: "changed", edits: 0, added: count("added"), removed: count("removed"), hunks: [], ...rest };
};

const VERSION = [same('  "name": "api-server",'), removed('  "version": "2.3.4",'), added('  "version": "2.4.0",'), same('  "type": "module",')];

export const everydayChanges: Changes = {
  root: "/home/dev/api-server",
  base: "4f1d2c9a07",
  since: at(42),
  files: [
    file("package.json", { edits: 1, editedAt: at(40), hunks: [{ before: 2, after: 2, lines: VERSION }, { before: 31, after: 31, lines: [same("  },"), added('  "engines": { "node": ">=20" },'), same('  "license": "MIT"')] }] }),
    file("CHANGELOG.md", { edits: 3, editedAt: at(38), fate: "added", hunks: [{ before: 1, after: 1, lines: ["# Changelog", "", "## 2.4.0", "", "- Webhooks are retried five times."].map(added) }] }),
    file("assets/logo.png", { edits: 1, editedAt: at(12), note: "It is no text." }),
    file("src/legacy.ts", { fate: "removed", hunks: [{ before: 1, after: 1, lines: ["export const old = true;", ""].map(removed) }] }),
  ],
  leftOut: 0,
  elsewhere: ["/home/dev/.config/api-server/settings.json"],
};

/** A repository with one long file. */
export const longChanges: Changes = {
  ...everydayChanges,
  files: [file("src/table.ts", { edits: 1, editedAt: at(3), hunks: [{ before: 1, after: 1, lines: Array.from({ length: 5000 }, (_, i) => [removed(`  ["row ${i}", ${i}],`), added(`  ["row ${i}", ${i + 1}],`)]).flat().slice(0, 5000) }] })],
};
