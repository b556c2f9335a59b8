// The form for a new session, also for one that goes on with the work of another. Its ids are made first, so that a second click starts no second one.

import type { OwnAgent } from "../bindings/OwnAgent";
import type { OwnKind } from "../bindings/OwnKind";
import type { OwnSpec } from "../bindings/OwnSpec";
import type { OwnSwitch } from "../bindings/OwnSwitch";
import type { TrackedSession } from "../bindings/TrackedSession";
import { codeOf, type Host, reasonOf } from "../host/host";

const KEY = "watchbill.new";
/** Most bytes of what was said that another agent is told, as for the command line. */
const BUDGET = 24_000;

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
  /** What the agent is told of the session that it goes on with; undefined until that is known. */
  switch = $state.raw<OwnSwitch | undefined>();
  failure = $state("");
  starting = $state(false);

  #host: Pick<Host, "ask" | "subscribe">;
  #from: TrackedSession | undefined;
  #anyBranch = false;

  /**
   * `cwd`: the folder of the selected session. `text`: a draft of the first prompt, which only a session with prompts can take.
   * `from`: the session whose work goes on.
   */
  constructor(host: Pick<Host, "ask" | "subscribe">, cwd: string | undefined, text = "", from?: TrackedSession) {
    this.#host = host;
    this.#from = from;
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
      const others = agents.filter((agent) => agent !== "shell" && agent !== this.#from?.agent);
      if (this.#from !== undefined) this.agent = others[0] ?? agents.find((agent) => agent !== "shell") ?? this.agent;
      if (!agents.includes(this.agent)) this.agent = agents[0] ?? this.agent;
      if (this.cwd === "") this.cwd = folders[0] ?? "";
    } catch (error) {
      this.failure = reasonOf(error);
    }
    await this.#preview();
  }

  /** A folder that has another branch is refused once: the user knows it then. */
  async #preview(): Promise<void> {
    if (this.#from === undefined || this.switch !== undefined) return;
    const call = { id: this.id, sessionId: this.#from.sessionId, agent: this.agent, fork: false, anyBranch: this.#anyBranch, budget: BUDGET };
    try {
      this.switch = await this.#host.ask("own_switch", { call });
      this.failure = "";
    } catch (error) {
      this.#anyBranch = codeOf(error) === "other_branch";
      this.failure = reasonOf(error);
    }
  }

  /** A shell has nothing but a terminal. */
  get actualKind(): OwnKind {
    return this.agent === "shell" ? "pty" : this.#from === undefined ? this.kind : "stream";
  }

  /** Why it cannot start yet. */
  get missing(): string | undefined {
    if (this.agents !== undefined && !this.agents.includes(this.agent)) return "No program of an agent was found in PATH.";
    if (!/^([/\\]|[A-Za-z]:[/\\])/.test(this.cwd.trim())) return "Name the folder with its whole path.";
    if (this.#from !== undefined && this.text.trim() === "") return "Write what the agent is to do.";
    return undefined;
  }

  /** Returns whether it runs, and has its first prompt. A second call after a failure repeats only what failed. */
  async start(): Promise<boolean> {
    if (this.starting) return false;
    this.failure = this.missing ?? "";
    if (this.failure !== "") return false;
    // What was not shown is not sent.
    if (this.#from !== undefined && this.switch === undefined) return this.#preview().then(() => false);
    this.starting = true;
    try {
      await this.#host.ask("own_start", { spec: this.#spec() });
      const text = [this.switch?.context, this.text.trim()].filter(Boolean).join("\n\n");
      if (text !== "" && this.actualKind === "stream") await this.#host.ask("own_command", { session: this.id, command: { do: "prompt", id: this.#prompt, text, when: "queue" } });
      if (this.#from === undefined) remember({ agent: this.agent, kind: this.kind });
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
      ...this.switch?.spec,
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
