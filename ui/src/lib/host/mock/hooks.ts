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
  #answers = false;
  /** Whether the status line is there, and its program. */
  line: NonNullable<HookSettings["statusLine"]> = "absent";

  constructor(installed: boolean) {
    this.#installed = installed;
  }

  status(): HookSettings[] {
    const state = this.#installed ? "installed" : "absent";
    return [{ path: PATH, state, missing: [], scope: "user", root: MOCK_ROOT, answers: this.#answers, takesAnswers: true, statusLine: this.line, ...(this.#context ? { context: true } : {}) }];
  }

  preview(step: HooksStep): HooksPreview {
    const installs = step.startsWith("install");
    const kind = installs ? "added" : "removed";
    const [entry, there] = step.endsWith("_status_line")
      ? ['"command": "watchbill statusline -- ~/line.sh"', this.line === "installed"]
      : step.endsWith("_answers")
        ? ['"PermissionRequest": [{ "hooks": [{ "type": "command", "command": "watchbill hook --answer", "timeout": 3600 }] }]', this.#answers]
      : step.endsWith("_context")
        ? ['"PostToolUse": [{ "hooks": [{ "type": "command", "command": "watchbill hook --context", "timeout": 1 }] }]', this.#context]
        : ['"Stop": [{ "hooks": [{ "type": "command", "command": "watchbill hook" }] }]', this.#installed];
    const ours = [step.endsWith("_status_line") ? '  "statusLine": {' : '  "hooks": {', `    ${entry}`, "  }"];
    const changes = installs !== there;
    return {
      path: PATH,
      root: MOCK_ROOT,
      step,
      lines: changes
        ? [{ kind: "same", text: "{" }, { kind: "same", text: '  "model": "opus",' }, ...ours.map((text) => ({ kind, text }) as const), { kind: "same", text: "}" }]
        : [],
      program: "/usr/bin/watchbill",
      client: "2.1.329",
      token: `${step}-${String(changes)}`,
    };
  }

  change(step: HooksStep, token: string): void {
    if (token !== this.preview(step).token) throw { code: "conflict", message: `${PATH} has changed since this was shown; look at it again` };
    if (step.endsWith("_status_line")) this.line = step === "install_status_line" ? "installed" : "absent";
    else if (step.endsWith("_answers")) this.#answers = step === "install_answers";
    else if (step.endsWith("_context")) this.#context = step === "install_context";
    else this.#installed = step === "install";
    this.done.push(step);
  }
}
