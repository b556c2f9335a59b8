// The hooks' states in words.

import type { HookSettings } from "../bindings/HookSettings";
import { agentTitle } from "../agents";
import { oneLine, plural } from "../text";

const SCOPE_WORDS: Record<string, string> = {
  user: "All your sessions",
  project: "All users of a project",
  local: "Your sessions in a project",
  managed: "All users of this machine",
};

export function scopeWords({ scope, agent }: HookSettings): string {
  const words = SCOPE_WORDS[scope] ?? scope;
  return agent === undefined ? words : `${words} of ${agentTitle(agent)}`;
}

/** The client draws no status line, because the program before it is gone. */
export function isLineLost({ statusLine }: HookSettings): boolean {
  return statusLine === "program_missing";
}

export function lineWords({ statusLine }: HookSettings): string {
  if (statusLine === "program_missing") return "The program before your status line is not there, so none is drawn";
  return statusLine === "installed" ? "Watchbill stands before yours" : "Not installed: limits of the plan, costs and the size of the context stay unknown";
}

export function hookWords(settings: HookSettings): string {
  switch (settings.state) {
    case "installed":
      return settings.missing.length === 0 ? "Installed" : `Installed; ${plural(settings.missing.length, "more event")} could be installed`;
    case "absent":
      return "Not installed";
    case "waits_for_trust":
      return `Installed; Codex runs them once you trust them: start codex and choose "trust all" in its dialog "Hooks need review"`;
    case "disabled":
      return "Claude Code runs no hooks: these settings forbid it";
    case "program_missing":
      return "Installed, but the program that they start is not there";
    case "outdated":
      return "Installed, but for another data folder or another version of Claude Code";
    case "unreadable":
      return settings.problem === undefined ? "Cannot be read" : oneLine(settings.problem);
    default:
      return settings.state;
  }
}
