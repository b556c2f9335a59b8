// The input of a request as the card shows it: nothing of it may be left out.

import type { Request } from "../bindings/Request";
import { type DiffLine, lineDiff } from "../timeline/diff";
import { visible } from "../visible";

/** An edit as a diff, with a sentence for everything that the lines do not show. */
export type Edit = { readonly path: string; readonly lines: readonly DiffLine[]; readonly notes: readonly string[] };

type Fields = Readonly<Record<string, unknown>>;

/** The edit; undefined if it has a field that the diff does not show. Then the card shows the text of the engine. */
export function editOf(request: Request): Edit | undefined {
  const input = fieldsOf(request.input);
  if (input === undefined || typeof input.file_path !== "string") return undefined;
  const path = visible(input.file_path);
  if (request.tool === "Write") {
    if (!hasOnly(input, ["file_path", "content"]) || typeof input.content !== "string") return undefined;
    return { path, lines: lineDiff("", input.content), notes: ["It replaces the whole file, or makes a new one.", ...endNote("", input.content)] };
  }
  const { file_path: _, ...one } = input;
  const parts = request.tool === "Edit" ? [one] : request.tool === "MultiEdit" && hasOnly(one, ["edits"]) ? one.edits : undefined;
  if (!Array.isArray(parts)) return undefined;
  const shown = parts.map(partOf);
  if (shown.length === 0 || shown.some((part) => part === undefined)) return undefined;
  return { path, lines: shown.flatMap((part) => part?.lines ?? []), notes: [...new Set(shown.flatMap((part) => part?.notes ?? []))] };
}

function partOf(part: unknown): Omit<Edit, "path"> | undefined {
  const fields = fieldsOf(part);
  if (fields === undefined || !hasOnly(fields, ["old_string", "new_string", "replace_all"])) return undefined;
  const { old_string: before, new_string: after, replace_all: all = false } = fields;
  if (typeof before !== "string" || typeof after !== "string" || typeof all !== "boolean") return undefined;
  return { lines: lineDiff(before, after), notes: [...(all ? ["It replaces every place where this text stands."] : []), ...endNote(before, after)] };
}

/** The lines of a diff do not show whether the last one ends in a line feed. */
function endNote(before: string, after: string): string[] {
  if (before === "" || after === "" || before.endsWith("\n") === after.endsWith("\n")) return [];
  return [after.endsWith("\n") ? "It adds a line feed at the end." : "It removes the line feed at the end."];
}

/** The text of a plan; undefined if the agent sent none. It is drawn by the engine. */
export function planOf(request: Request): string | undefined {
  return typeof fieldsOf(request.input)?.plan === "string" ? request.shown : undefined;
}

/** Everything that a plan brings besides its text, as JSON; empty if there is nothing. */
export function besidePlan(request: Request): string {
  const { plan: _, ...others } = fieldsOf(request.input) ?? {};
  return Object.keys(others).length === 0 ? "" : visible(JSON.stringify(others, null, 2));
}

/** What the model says about its command; empty if it says nothing. */
export function descriptionOf(request: Request): string {
  const description = fieldsOf(request.input)?.description;
  return request.kind === "permission" && typeof description === "string" ? visible(description) : "";
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function hasOnly(fields: Fields, names: readonly string[]): boolean {
  return Object.keys(fields).every((name) => names.includes(name));
}
