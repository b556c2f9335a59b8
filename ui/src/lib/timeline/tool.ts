// The input of a tool call, in a better form than JSON if there is one.

import { type DiffLine, lineDiff } from "./diff";

export type ToolInput =
  | { readonly as: "diff"; readonly path: string; readonly lines: readonly DiffLine[] }
  | { readonly as: "text"; readonly text: string };

const EDITS: ReadonlySet<string> = new Set(["Edit", "MultiEdit", "Write", "NotebookEdit"]);

/** A tool whose input is shown as a diff. */
export function isEdit(tool: string): boolean {
  return EDITS.has(tool);
}

/** The input is JSON text that may be cut off. If it does not parse, it is shown unchanged. */
export function readInput(tool: string, input: string): ToolInput {
  const parsed = parse(input);
  if (parsed === undefined) return { as: "text", text: input };
  const path = text(parsed.file_path) ?? text(parsed.notebook_path) ?? text(parsed.path);
  if (path !== undefined) {
    const lines = editLines(tool, parsed);
    if (lines !== undefined) return { as: "diff", path, lines };
  }
  const command = text(parsed.command);
  if (command !== undefined) return { as: "text", text: command };
  return { as: "text", text: JSON.stringify(parsed, null, 2) };
}

function editLines(tool: string, input: Record<string, unknown>): DiffLine[] | undefined {
  const before = text(input.old_string);
  const after = text(input.new_string);
  if (before !== undefined && after !== undefined) return lineDiff(before, after);
  if (Array.isArray(input.edits)) {
    return input.edits.flatMap((edit: unknown) => {
      if (typeof edit !== "object" || edit === null) return [];
      const { old_string, new_string } = edit as Record<string, unknown>;
      return lineDiff(text(old_string) ?? "", text(new_string) ?? "");
    });
  }
  const content = text(input.content) ?? text(input.new_source);
  if (content !== undefined && (tool === "Write" || tool === "NotebookEdit")) return lineDiff("", content);
  return undefined;
}

function parse(input: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
