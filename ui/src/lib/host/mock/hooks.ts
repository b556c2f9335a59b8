// Hooks without an agent: a settings file that holds only our own entries.

import type { HookSettings } from "../../bindings/HookSettings";
import type { HooksPreview } from "../../bindings/HooksPreview";
import type { HooksStep } from "../../bindings/HooksStep";

const PATH = "/home/dev/.claude/settings.json";
export const MOCK_ROOT = "/home/dev/.claude";

export class MockHooks {
  /** The steps that were made, for tests. */
  readonly done: HooksStep[] = [];

  #installed: boolean;
  #context = false;

  constructor(installed: boolean) {
    this.#installed = installed;
  }

  status(): HookSettings[] {
    const state = this.#installed ? "installed" : "absent";
    return [{ path: PATH, state, missing: [], scope: "user", root: MOCK_ROOT, ...(this.#context ? { context: true } : {}) }];
  }

  preview(step: HooksStep): HooksPreview {
    const kind = step.startsWith("install") ? "added" : "removed";
    const context = step.endsWith("context");
    const ours = context
      ? ['  "hooks": {', '    "PostToolUse": [{ "hooks": [{ "type": "command", "command": "watchbill hook --context", "timeout": 1 }] }]', "  }"]
      : ['  "hooks": {', '    "Stop": [{ "hooks": [{ "type": "command", "command": "watchbill hook" }] }]', "  }"];
    const changes = step.startsWith("install") !== (context ? this.#context : this.#installed);
    return {
      path: PATH,
      root: MOCK_ROOT,
      step,
      lines: changes
        ? [{ kind: "same", text: "{" }, { kind: "same", text: '  "model": "opus",' }, ...ours.map((text) => ({ kind, text }) as const), { kind: "same", text: "}" }]
        : [],
      program: "/usr/bin/watchbill",
      client: "2.1.329",
      token: `${step}-${String(this.#installed)}-${String(this.#context)}`,
    };
  }

  change(step: HooksStep, token: string): void {
    if (token !== this.preview(step).token) throw { code: "conflict", message: `${PATH} has changed since this was shown; look at it again` };
    if (step.endsWith("context")) this.#context = step === "install_context";
    else this.#installed = step === "install";
    this.done.push(step);
  }
}
