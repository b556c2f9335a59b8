// The form for a new session. Its ids are made first, so that a second click starts no second one.

import type { OwnAgent } from "../bindings/OwnAgent";
import type { OwnKind } from "../bindings/OwnKind";
import { type Host, reasonOf } from "../host/host";
import type { OwnSpec } from "../bindings/OwnSpec";

const KEY = "watchbill.new";

export class NewSession {
  readonly id = crypto.randomUUID();
  readonly #prompt = crypto.randomUUID();

  agent = $state<OwnAgent>("claude");
  kind = $state<OwnKind>("stream");
  cwd = $state("");
  model = $state("");
  mode = $state("");
  text = $state("");
  /** Agents whose program was found; undefined until that is known. */
  agents = $state.raw<readonly OwnAgent[] | undefined>();
  folders = $state.raw<readonly string[]>([]);
  failure = $state("");
  starting = $state(false);

  #host: Pick<Host, "ask" | "subscribe">;

  /** `cwd`: the folder of the selected session. `text`: a draft of the first prompt, which only a session with prompts can take. */
  constructor(host: Pick<Host, "ask" | "subscribe">, cwd: string | undefined, text = "") {
    this.#host = host;
    this.cwd = cwd ?? "";
    const before = remembered();
    if (before.agent !== undefined) this.agent = before.agent;
    if (before.kind !== undefined) this.kind = before.kind;
    if (text !== "") [this.text, this.kind] = [text, "stream"];
    if (text !== "" && this.agent === "shell") this.agent = "claude";
  }

  async look(): Promise<void> {
    try {
      const { agents, folders } = await this.#host.ask("own_choices");
      this.agents = agents;
      this.folders = folders;
      if (!agents.includes(this.agent)) this.agent = agents[0] ?? this.agent;
      if (this.cwd === "") this.cwd = folders[0] ?? "";
    } catch (error) {
      this.failure = reasonOf(error);
    }
  }

  /** A shell has nothing but a terminal. */
  get actualKind(): OwnKind {
    return this.agent === "shell" ? "pty" : this.kind;
  }

  /** Why it cannot start yet. */
  get missing(): string | undefined {
    if (this.agents !== undefined && !this.agents.includes(this.agent)) return "No program of an agent was found in PATH.";
    if (!/^([/\\]|[A-Za-z]:[/\\])/.test(this.cwd.trim())) return "Name the folder with its whole path.";
    return undefined;
  }

  /** Returns whether it runs, and has its first prompt. A second call after a failure repeats only what failed. */
  async start(): Promise<boolean> {
    if (this.starting) return false;
    this.failure = this.missing ?? "";
    if (this.failure !== "") return false;
    this.starting = true;
    try {
      await this.#host.ask("own_start", { spec: this.#spec() });
      const text = this.text.trim();
      if (text !== "" && this.actualKind === "stream") await this.#host.ask("own_command", { session: this.id, command: { do: "prompt", id: this.#prompt, text, when: "queue" } });
      remember({ agent: this.agent, kind: this.kind });
      return true;
    } catch (error) {
      this.failure = reasonOf(error);
      return false;
    } finally {
      this.starting = false;
    }
  }

  #spec(): OwnSpec {
    const [model, mode] = [this.model.trim(), this.mode];
    return {
      session: this.id,
      agent: this.agent,
      kind: this.actualKind,
      cwd: this.cwd.trim(),
      createdAt: new Date().toISOString(),
      ...(model === "" || this.agent === "shell" ? {} : { model }),
      ...(mode === "" || this.agent === "shell" ? {} : { mode }),
    };
  }
}

type Before = { readonly agent?: OwnAgent; readonly kind?: OwnKind };

function remembered(): Before {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return typeof kept === "object" && kept !== null ? (kept as Before) : {};
  } catch {
    return {};
  }
}

function remember(before: Before): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(before));
  } catch {
    // Without storage the dialog begins with its defaults.
  }
}
