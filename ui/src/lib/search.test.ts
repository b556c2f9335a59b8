import { expect, test } from "vitest";

import type { SearchAnswer } from "./bindings/SearchAnswer";
import type { SearchQuery } from "./bindings/SearchQuery";
import { askWith } from "./host/mock/replies";
import { HistorySearch } from "./search.svelte";

function answer(query: string, change: Partial<SearchAnswer> = {}): SearchAnswer {
  const hit = { sessionId: query, workChainId: "w", role: "prompt", snippet: query, snippetParts: [], project: "p", score: 1, offset: 0 };
  return { query, hits: [hit], more: false, index: "current", tookMs: 1, ...change };
}

/** A host that answers when the test lets it. */
function slowHost() {
  const asked: { query: string; give: (answer: SearchAnswer) => void; refuse: (error: unknown) => void }[] = [];
  const search = ({ query: { query } }: { query: SearchQuery }) =>
    new Promise<SearchAnswer>((give, refuse) => {
      asked.push({ query, give, refuse });
    });
  return { asked, ask: askWith({ search }) };
}

const turn = () => new Promise((done) => setTimeout(done));

test("each query is sent at once, and an older answer is not shown", async () => {
  const host = slowHost();
  const search = new HistorySearch(host);
  const asked = ["pa", "pag", "pager", "pager"].map((text) => search.ask(text));
  expect(host.asked.map(({ query }) => query)).toEqual(["pa", "pag", "pager"]);
  host.asked[0]!.give(answer("pa"));
  host.asked[1]!.refuse({ code: "unreadable", message: "The search has ended early." });
  await turn();
  expect([search.hits, search.note, search.busy]).toEqual([[], "", true]);
  host.asked[2]!.give(answer("pager"));
  await Promise.all(asked);
  expect(search.hits.map((hit) => hit.sessionId)).toEqual(["pager"]);
  expect(search.busy).toBe(false);
});

test("hits stay until the next answer, and go when the words do", async () => {
  const host = slowHost();
  const search = new HistorySearch(host);
  const first = search.ask("one");
  host.asked[0]!.give(answer("one"));
  await first;
  const second = search.ask("one t");
  expect(search.hits).toHaveLength(1);
  void search.ask("");
  expect(search.hits).toEqual([]);
  host.asked[1]!.give(answer("one t"));
  await second;
  expect(search.hits).toEqual([]);
  expect(search.busy).toBe(false);
});

test("one letter sends no query, one ideograph does", () => {
  const host = slowHost();
  const search = new HistorySearch(host);
  void search.ask("a");
  expect(host.asked).toEqual([]);
  void search.ask("検");
  expect(host.asked).toHaveLength(1);
});

test("filters go to the engine as fields, and without words no query is sent", async () => {
  const asked: SearchQuery[] = [];
  const search = new HistorySearch({ ask: askWith({ search: ({ query }) => (asked.push(query), answer(query.query)) }) });
  await search.ask("project:api flaky", 0);
  expect(asked).toEqual([{ query: "flaky", typing: true, limit: 20, project: "api" }]);
  await search.ask("project:api", 0);
  expect(search.note).toContain("Type the words");
  await search.ask("flaky since:soon", 0);
  expect(search.note).toContain("since:soon is not a time");
  expect(search.hits).toEqual([]);
  expect(asked).toHaveLength(1);
});

test("the same words with another filter are another question", async () => {
  const asked: SearchQuery[] = [];
  const search = new HistorySearch({ ask: askWith({ search: ({ query }) => (asked.push(query), answer(query.query)) }) });
  const first = search.ask("flaky", 0);
  void search.ask("flaky role:prompt", 0);
  await first;
  expect(asked.map(({ role }) => role)).toEqual([undefined, "prompt"]);
});

test("a wrong filter sends no query, and an earlier answer does not replace its note", async () => {
  const host = slowHost();
  const search = new HistorySearch(host);
  const done = search.ask("flaky", 0);
  void search.ask("flaky since:soon", 0);
  host.asked[0]!.give(answer("flaky"));
  await done;
  expect(host.asked).toHaveLength(1);
  expect([search.hits, search.note.includes("since:soon is not a time"), search.busy]).toEqual([[], true, false]);
});

test("a failure and an incomplete history are noted", async () => {
  const host = slowHost();
  const search = new HistorySearch(host);
  const first = search.ask("one");
  host.asked[0]!.refuse({ code: "internal", message: "The database is locked." });
  await first;
  expect(search.note).toBe("The database is locked.");
  const second = search.ask("two");
  host.asked[1]!.give(answer("two", { index: "behind" }));
  await second;
  expect(search.note).toContain("still being read");
  const third = search.ask("three");
  host.asked[2]!.give(answer("three", { hits: [] }));
  await third;
  expect(search.note).toBe("Nothing in the history has these words.");
  const fourth = search.ask("four");
  host.asked[3]!.give(answer("four", { hits: [], cutBytes: 9 }));
  await fourth;
  expect(search.note).toContain("The ends of long texts are not searched");
  const fifth = search.ask("five");
  host.asked[4]!.give(answer("five", { index: "cut" }));
  await fifth;
  expect(search.note).toContain("ended after three seconds");
});
