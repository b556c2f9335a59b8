// Requests for the mock host, and what becomes of their answers.

import type { AnswerCall } from "../../bindings/AnswerCall";
import type { AnswerGiven } from "../../bindings/AnswerGiven";
import type { Request } from "../../bindings/Request";
import type { TrackedSession } from "../../bindings/TrackedSession";
import { ago, ENGINE_START, inRosterOrder, iso, row, type RowSketch } from "./rows";

type Sketch = Partial<Request> & Pick<Request, "id" | "tool" | "shown" | "summary">;

export function request(sketch: Sketch): Request {
  return { digest: `${sketch.id}-0000000000`.slice(0, 16), kind: "permission", input: {}, mode: "default", openedAt: ago(38), answerable: "hook", progress: "open", ...sketch };
}

const PUBLISH = "npm publish --tag latest --access public";

export function publishRequest(sketch: Partial<Request> = {}): Request {
  return request({
    id: "ask-publish",
    tool: "Bash",
    input: { command: PUBLISH, description: "Publish to the registry under the tag latest" },
    shown: PUBLISH,
    summary: `Bash: ${PUBLISH}`,
    always: [{ rule: "Bash(npm publish *)", where: "/home/dev/api-server/.claude/settings.local.json" }],
    ...sketch,
  });
}

const OLD = `  const token = process.env.NPM_TOKEN;\n  return send(tag, token);\n}\n`;
const NEW = `  const token = await readToken(process.env.HOME);\n  if (token === undefined) {\n    throw new Error("no token is stored");\n  }\n  return send(tag, token);\n}\n`;
const PLAN = `# Split the billing module

1. Move \`invoice/\` and \`tax/\` into crates of their own; \`billing\` re-exports both.
2. Replace the shared \`Money\` alias by a newtype, 41 call sites.
3. Webhooks stay where they are; their tests run after each step.
4. Remove the re-exports in a commit of its own, so that it can be taken back.
`;
const EVICTION = {
  question: "Which eviction policy do you want?",
  header: "Eviction",
  several: false,
  options: [
    { label: "allkeys-lru", description: "Drops what was used longest ago. Fits sessions that may be lost." },
    { label: "volatile-ttl", description: "Drops what ends soonest; keys without an end stay." },
    { label: "noeviction", description: "Writes fail when memory is full." },
  ],
};
const CHECKS = {
  question: "Which checks shall run before each commit?",
  header: "Checks",
  several: true,
  options: [{ label: "Types" }, { label: "Unit tests", description: "About 40 s" }, { label: "Browser tests", description: "About 6 min" }],
};

/** Sessions that ask, one of each kind. */
export function askingRows(): TrackedSession[] {
  const asks = (sketch: RowSketch & { request: Request }): TrackedSession =>
    row({
      state: "waiting_for_approval",
      stateKind: sketch.request.kind === "question" || sketch.request.kind === "plan" ? sketch.request.kind : "permission",
      stateSince: sketch.request.openedAt,
      stateReason: { source: "hook", detail: `asks to use ${sketch.request.tool}`, confidence: "observed" },
      branch: "main",
      model: "claude-opus-4-1",
      pid: 41022,
      ...(sketch.request.mode === undefined ? {} : { permissionMode: sketch.request.mode }),
      ...sketch,
    });
  const question = (id: string, title: string, questions: Request["questions"], since: number): TrackedSession =>
    asks({
      sessionId: id,
      title,
      cwd: "/home/dev/shop",
      request: request({ id: `ask-${id}`, kind: "question", tool: "AskUserQuestion", shown: "{}", summary: `asks: ${questions?.[0]?.question ?? ""}`, questions: questions ?? [], openedAt: ago(since) }),
    });
  return inRosterOrder([
    asks({ sessionId: "asks-run", title: "Publish the 2.4 release", cwd: "/home/dev/api-server", request: publishRequest({ more: 1 }) }),
    asks({
      sessionId: "asks-edit",
      title: "Read the token from the store",
      cwd: "/home/dev/api-server",
      request: request({
        id: "ask-edit",
        tool: "Edit",
        subagent: "reviewer",
        input: { file_path: "/home/dev/api-server/src/publish/registry.ts", old_string: OLD, new_string: NEW },
        shown: JSON.stringify({ file_path: "/home/dev/api-server/src/publish/registry.ts", old_string: OLD, new_string: NEW }, null, 2),
        summary: "Edit: /home/dev/api-server/src/publish/registry.ts",
        always: [{ rule: "permission mode acceptEdits", where: "this session" }],
        openedAt: ago(32),
      }),
    }),
    question("asks-one", "Migrate sessions to Redis", [EVICTION], 31),
    question("asks-several", "Set up the commit hooks", [CHECKS], 30),
    question("asks-two", "Choose the cache", [EVICTION, CHECKS], 29),
    asks({
      sessionId: "asks-plan",
      title: "Split the billing module",
      cwd: "/home/dev/billing",
      request: request({ id: "ask-plan", kind: "plan", tool: "ExitPlanMode", input: { plan: PLAN }, shown: PLAN, summary: "wants a verdict on its plan", mode: "plan", openedAt: ago(28) }),
    }),
    asks({
      sessionId: "asks-unknown",
      title: "Tidy the import wizard",
      cwd: "/home/dev/desk",
      request: request({ id: "ask-unknown", kind: "unknown", tool: "AskUserQuestion", input: { prompts: [] }, shown: '{\n  "prompts": []\n}', summary: "AskUserQuestion", answerable: "no", why: "This version of Watchbill does not know this kind of request.", openedAt: ago(27) }),
    }),
    asks({ sessionId: "asks-failed", title: "Publish the beta", cwd: "/home/dev/api-server", request: publishRequest({ id: "ask-failed", progress: "failed", openedAt: ago(26) }) }),
    asks({
      sessionId: "asks-long",
      title: "Import the customers",
      cwd: "/home/dev/shop",
      request: publishRequest({ id: "ask-long", shown: Array.from({ length: 80 }, (_, i) => `psql -c "insert into customers values (${i}, 'customer ${i}')"`).join("\n"), summary: "Bash: psql -c …", openedAt: ago(25) }),
    }),
  ]);
}

/** Checks an answer as the engine does; throws its refusal. */
export function given(session: TrackedSession, call: AnswerCall): AnswerGiven {
  const asked = session.request;
  const refused = (message: string): { code: string; message: string } => ({ code: "conflict", message });
  if (asked?.id !== call.requestId) throw refused("nothing of that kind is asked any more; the session shows what it asks now");
  if (asked.digest !== call.seen) throw refused("the request is not the one that was shown; look at it again");
  if (asked.progress !== "open") throw refused("it was answered already");
  return { requestId: asked.id, decision: call.decision.do, delivered: true, at: iso(ENGINE_START) };
}

/** The row after its answer has taken effect: it works on. */
export function goesOn({ request: _, stateKind: __, needs: ___, ...session }: TrackedSession): TrackedSession {
  return { ...session, state: "working", status: "working", group: "working", stateSince: iso(ENGINE_START) };
}
