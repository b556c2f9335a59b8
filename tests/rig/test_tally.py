"""Tallies, targets, the lines of `watch --json`, and the stub's choice of an answer."""

import json
import tempfile
import unittest
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import report
import responses
import stage
import truth
from compare import Shown, score
from replies import Step, text
from stub import Stub, plan_file, results
from tally import BOUND, SHARES, tallies, with_all
from truth import ABSENT, Turning
from versions import PINNED, TITLES
from watcher import Watcher, apply
from witnesses import SETS

TURNINGS = [
    Turning(0, truth.READY, "start"),
    Turning(10, truth.WORKING, "Enter on a prompt"),
    Turning(20, truth.INTERRUPTED, "Escape"),
]


def run(timeline, name="all"):
    """One run as `measure` gives it."""
    session = {"label": "session", **asdict(score(TURNINGS, timeline, 0, 30))}
    return {name: {"sessions": [session], "strangers": 0, "strangers_asking": 0}}


def result(agent, timeline):
    """One scenario."""
    return {"scenario": "escape", "shows": "Escape", "agent": agent, "runs": [run(timeline)]}


def found(timeline, agent="claude"):
    """What the page says of an agent with this one scenario."""
    facts = {"version": PINNED[agent], "runs": 1, "profile": "debug", "load": "none"}
    return {**facts, "results": [result(agent, timeline)]}


GOOD = [Shown(0, "waiting_for_input"), Shown(10.1, "working"), Shown(20.2, "waiting_for_input", "interrupted")]
BAD = [Shown(0, "waiting_for_input"), Shown(10.1, "waiting_for_approval", "permission"), Shown(20.2, "working")]


class Tallied(unittest.TestCase):
    """Only right states keep the targets."""

    def test_right_states_keep_every_target(self):
        tally = tallies([run(GOOD), run(GOOD)], ["all"])["all"]
        self.assertEqual([t.words for t in [*with_all("claude"), *BOUND] if not t.holds(tally)], [])
        self.assertEqual((len(tally.settles), len(tally.escapes)), (2, 2))

    def test_each_agent_that_is_driven_has_a_target(self):
        self.assertEqual(set(SHARES), set(TITLES))

    def test_wrong_states_break_targets(self):
        tally = tallies([run(GOOD), run(BAD)], ["all"])["all"]
        broken = {t.words for t in [*with_all("claude"), *BOUND] if not t.holds(tally)}
        self.assertIn('no false "needs you"', broken)
        self.assertIn("each session ends in the right state", broken)
        self.assertIn("every change is shown", broken)

    def test_a_stranger_that_asks_is_a_false_alarm(self):
        odd = run(GOOD)
        odd["all"]["strangers_asking"] = 1
        self.assertEqual(tallies([odd], ["all"])["all"].false_alarms, 1)

    def test_the_page_names_broken_targets(self):
        page = report.markdown({"claude": found(BAD)})
        self.assertIn("**not kept**", page)
        self.assertIn("**1 false**", page)
        self.assertNotIn("**not kept**", report.markdown({"claude": found(GOOD)}))

    def test_the_part_of_an_agent_that_was_not_driven_stays(self):
        facts = {"runs": 1, "profile": "debug", "load": "none"}
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            report.write(page, [result("claude", BAD)], facts)
            report.write(page, [result("codex", GOOD)], facts)
            text = page.read_text()
        self.assertEqual(text, report.markdown({"claude": found(BAD), "codex": found(GOOD, "codex")}))
        self.assertLess(text.index("## Claude Code"), text.index("## Codex CLI"))


class Followed(unittest.TestCase):
    """Lines become timelines."""

    def test_rows_are_added_changed_and_removed(self):
        rows, timelines = {}, {}
        reason = {"confidence": "observed", "source": "registry"}
        row = {"sessionId": "s", "state": "working", "stateReason": reason}
        apply(rows, timelines, 1, {"event": "snapshot", "sessions": []})
        apply(rows, timelines, 2, {"event": "discovered", "session": row})
        change = {"state": "waiting_for_input", "stateKind": "turn_ended"}
        apply(rows, timelines, 3, {"event": "updated", "sessionId": "s", "updates": change})
        apply(rows, timelines, 4, {"event": "updated", "sessionId": "s", "updates": {"title": "no change of state"}})
        apply(rows, timelines, 5, {"event": "updated", "sessionId": "s", "updates": {"stateKind": None}})
        apply(rows, timelines, 6, {"event": "removed", "sessionId": "s"})
        shown = [(s.at, s.state, s.kind) for s in timelines["s"]]
        expected = [(2, "working", None), (3, "waiting_for_input", "turn_ended"), (5, "waiting_for_input", None)]
        self.assertEqual(shown, [*expected, (6, ABSENT, None)])
        self.assertEqual(rows, {})

    def test_a_new_snapshot_removes_rows_that_it_does_not_name(self):
        rows, timelines = {}, {}
        row = {"sessionId": "s", "state": "working", "stateReason": {"confidence": "observed", "source": "hook"}}
        apply(rows, timelines, 1, {"event": "snapshot", "sessions": [row]})
        apply(rows, timelines, 2, {"event": "snapshot", "sessions": []})
        self.assertEqual([s.state for s in timelines["s"]], ["working", ABSENT])


class Rested(unittest.TestCase):
    """A rest of a test run lasts until the watchers with all witnesses show the truth."""

    def test_a_rest_waits_only_for_watchers_with_all_witnesses(self):
        true = truth.Truth()
        true.bind("one", "s")
        true.turn("one", 1, truth.READY, "start")
        true.turn("one", 2, truth.WORKING, "Enter on a prompt")
        watchers = [SimpleNamespace(witnesses=w, timelines={}) for w in SETS]
        for watcher in watchers:
            watcher.now = lambda session, watcher=watcher: Watcher.now(watcher, session)
        self.assertFalse(stage.shown(true, watchers))
        watchers[0].timelines["s"] = [Shown(1, "waiting_for_input"), Shown(2, "working")]
        self.assertTrue(stage.shown(true, watchers))
        true.turn("one", 3, truth.ENDED_TURN, "the model's last answer")
        self.assertFalse(stage.shown(true, watchers))


class Chosen(unittest.TestCase):
    """The stub answers by the prompt and by its earlier answers."""

    def setUp(self):
        self.stub = Stub()
        self.addCleanup(self.stub.close)
        self.stub.scripts["two"] = [Step(text("first")), Step(text("second"))]

    def chosen(self, *messages):
        body = {"messages": [{"role": role, "content": content} for role, content in messages]}
        name, number, step = self.stub.choose(body)
        return name, number, step.blocks[0]["text"]

    def test_the_step_follows_from_the_history(self):
        self.assertEqual(self.chosen(("user", "go @@two")), ("two", 0, "first"))
        again = [("user", "go @@two"), ("assistant", "first"), ("user", "on")]
        self.assertEqual(self.chosen(*again), ("two", 1, "second"))
        self.assertEqual(self.chosen(*again)[1:], (1, "second"))

    def test_reminders_and_unknown_names_choose_nothing(self):
        self.assertEqual(self.chosen(("user", "go @@none_such"))[0], "none")
        reminder = [{"type": "text", "text": "<system-reminder>@@two</system-reminder>"}]
        self.assertEqual(self.chosen(("user", reminder))[0], "none")

    def test_a_summary_request_is_recognised_by_its_words(self):
        words = "Your task is to create a detailed summary of the conversation"
        self.assertEqual(self.chosen(("user", "go @@two"), ("user", words))[0], "compaction")

    def test_results_are_those_since_the_last_answer(self):
        def result(words):
            return {"type": "tool_result", "content": [{"type": "text", "text": words}]}

        messages = [{"role": "user", "content": [result("old")]}, {"role": "assistant", "content": "on"}]
        messages += [{"role": "user", "content": [result("one"), result("two")]}, {"role": "user", "content": "go on"}]
        self.assertEqual(results({"messages": messages}), ["one", "two"])

    def test_the_plan_file_is_the_one_that_the_client_names(self):
        said = {"messages": [{"role": "user", "content": "Write it to /home/dev/.claude/plans/a-name.md."}]}
        self.assertEqual(plan_file(said), "/home/dev/.claude/plans/a-name.md")
        self.assertEqual(plan_file({"messages": []}), "")

    def of_codex(self, *items, **about):
        headers = {"x-codex-turn-metadata": json.dumps({"thread_id": "t", "request_kind": "turn", **about})}
        name, number, step = responses.choose(self.stub, headers, {"input": list(items)})
        return name, number, step.blocks[0]["text"]

    def test_codex_gets_the_step_by_the_results_since_its_prompt(self):
        prompt = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go @@two now"}]}
        done = {"type": "function_call_output", "output": "done"}
        self.assertEqual(self.of_codex(done, prompt), ("two", 0, "first"))
        self.assertEqual(self.of_codex(prompt, done), ("two", 1, "second"))
        self.assertEqual(self.of_codex(prompt, done, done), ("two", 2, "Nothing more."))
        task = {"type": "agent_message", "content": [{"type": "encrypted_content", "encrypted_content": "go @@two now"}]}
        self.assertEqual(self.of_codex(prompt, done, task), ("two", 0, "first"))
        self.assertEqual(self.of_codex(prompt, thread_source="thread_title")[0], "title")
        self.assertEqual(self.of_codex(prompt, request_kind="compaction")[0], "compaction")


if __name__ == "__main__":
    unittest.main()
