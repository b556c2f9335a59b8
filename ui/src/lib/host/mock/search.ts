// The mock host's search over the made-up timelines. A byte offset is an index here.

import type { Hit } from "../../bindings/Hit";
import type { SearchAnswer } from "../../bindings/SearchAnswer";
import type { SearchQuery } from "../../bindings/SearchQuery";
import type { SnippetPart } from "../../bindings/SnippetPart";
import type { TimelineItem } from "../../bindings/TimelineItem";
import type { TrackedSession } from "../../bindings/TrackedSession";
import { agentTimeline, MOCK_AGENT, type MockTimeline } from "./timelines";

type Text = { readonly role: string; readonly text: string; readonly tool?: string };

function textsOf(item: TimelineItem): Text[] {
  switch (item.kind) {
    case "prompt":
    case "response":
    case "thinking":
      return [{ role: item.kind === "response" ? "answer" : item.kind, text: item.text }];
    case "tool":
      return [
        { role: "tool_input", text: item.target, tool: item.tool },
        { role: "tool_result", text: item.output ?? "", tool: item.tool },
      ];
    default:
      return [];
  }
}

function partsOf(text: string, word: string): SnippetPart[] {
  const at = text.toLowerCase().indexOf(word);
  const begin = Math.max(0, at - 40);
  const end = at + word.length;
  const parts = [
    { text: text.slice(begin, at), found: false },
    { text: text.slice(at, end), found: true },
    { text: text.slice(end, end + 80), found: false },
  ];
  return parts.filter((part) => part.text !== "");
}

/** Searches the newest sessions first, until the first page is full. */
export function searchMock(rows: readonly TrackedSession[], timelineOf: (session: TrackedSession) => MockTimeline, asked: SearchQuery): SearchAnswer {
  const words = asked.query.toLowerCase().split(/\s+/).filter(Boolean);
  const hits: Hit[] = [];
  const fits = (session: TrackedSession, item: TimelineItem, text: Text): boolean =>
    (asked.project === undefined || (session.cwd ?? "").includes(asked.project)) &&
    (asked.role === undefined || text.role === asked.role) &&
    (asked.tool === undefined || text.tool === asked.tool) &&
    (asked.since === undefined || (item.at ?? "") >= asked.since);
  const look = (session: TrackedSession, timeline: MockTimeline, agentId: string | undefined): void => {
    for (let index = 0; index < Math.min(timeline.total, 1000); index += 1) {
      const item = timeline.at(index);
      for (const said of textsOf(item)) {
        const { role, text, tool } = said;
        if (!fits(session, item, said)) continue;
        if (!words.every((word) => text.toLowerCase().includes(word))) continue;
        const snippetParts = partsOf(text.replace(/\s+/g, " "), words[0] ?? "");
        hits.push({
          sessionId: session.sessionId,
          workChainId: session.workChainId,
          ...(item.at === undefined ? {} : { at: item.at }),
          role,
          snippet: snippetParts.map((part) => part.text).join(""),
          snippetParts,
          project: session.cwd ?? "",
          score: 1 / (hits.length + 1),
          ...(session.title === undefined ? {} : { title: session.title }),
          ...(tool === undefined ? {} : { tool }),
          ...(agentId === undefined ? {} : { agentId }),
          offset: index,
        });
      }
    }
  };
  for (const session of rows) {
    if (hits.length > (asked.limit ?? 20)) break;
    const timeline = timelineOf(session);
    look(session, timeline, undefined);
    if (holdsAgent(timeline)) look(session, agentTimeline(session.sessionId), MOCK_AGENT);
  }
  return { query: asked.query, hits: hits.slice(0, asked.limit ?? 20), more: hits.length > (asked.limit ?? 20), index: "current", tookMs: 1.5 };
}

function holdsAgent(timeline: MockTimeline): boolean {
  return callIn(timeline) >= 0;
}

/** The call that started the story's subagent. */
export function callIn(timeline: MockTimeline): number {
  for (let index = 0; index < Math.min(timeline.total, 1000); index += 1) {
    const item = timeline.at(index);
    if (item.kind === "tool" && item.subagent?.agentId === MOCK_AGENT) return index;
  }
  return -1;
}
