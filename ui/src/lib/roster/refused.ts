// Calls that the agent's reviewer refused without asking.

import type { TrackedSession } from "../bindings/TrackedSession";
import { commandLine } from "../text";

type Refused = NonNullable<TrackedSession["refused"]>;

/** The call: what it acts on, else its tool. */
export function refusedCall({ last }: Refused): string {
  const target = commandLine(last.target ?? "");
  return target === "" ? commandLine(last.tool) : target;
}

/** The rule that would allow the last refused call, and what to say when it is copied. Without a rule, the words say why. */
export function ruleOf(session: TrackedSession | undefined): { readonly rule?: string; readonly words: string } {
  if (session?.refused === undefined) return { words: "No call of this session was refused" };
  const { allow } = session.refused.last;
  if (allow === undefined) return { words: "No narrow rule would allow this call: it is a pattern or has several parts" };
  return { rule: allow.rule, words: `Copied: ${commandLine(allow.rule)}. It belongs in ${allow.where}.` };
}
