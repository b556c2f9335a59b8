// The names of agents, as a person reads them.

import { oneLine } from "./text";

const TITLES: Readonly<Record<string, string>> = { claude: "Claude Code", codex: "Codex", gemini: "Gemini", opencode: "opencode", copilot: "Copilot", pi: "pi", cursor: "Cursor", kimi: "Kimi", grok: "Grok", droid: "Droid", qwen: "Qwen", goose: "goose", antigravity: "Antigravity", amp: "Amp" };

/** All agents, by their words in the roster. */
export const AGENTS = Object.keys(TITLES);

/** The name of an agent; of none, that of the default one. */
export function agentTitle(agent: string | undefined): string {
  return TITLES[agent === undefined || agent === "" ? "claude" : agent] ?? oneLine(agent ?? "");
}
