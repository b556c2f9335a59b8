"""The maths of the comparison, on made-up timelines."""

import unittest

import truth
from compare import TOLERANCE, Shown, percentile, score
from truth import Turning


def turnings(*rows):
    """Turnings of (time, phase)."""
    return [Turning(at, phase, f"to {phase.name}") for at, phase in rows]


ASKED = turnings((0, truth.READY), (10, truth.WORKING), (20, truth.PERMISSION), (30, truth.WORKING), (40, truth.ENDED_TURN))
SHOWN = [
    Shown(1, "waiting_for_input"),
    Shown(10.1, "working"),
    Shown(20.2, "waiting_for_approval", "permission"),
    Shown(30.1, "working"),
    Shown(40.3, "waiting_for_input", "turn_ended"),
]


class Compared(unittest.TestCase):
    """Each test states the expected numbers."""

    def test_a_state_shown_within_the_tolerance_is_right(self):
        result = score(ASKED, SHOWN, 0, 50)
        self.assertAlmostEqual(result.right, result.seconds)
        self.assertAlmostEqual(result.right_kind, result.seconds)
        self.assertEqual((result.wrong, result.false_alarms, result.missed), ([], [], []))
        self.assertEqual(result.asked, 1)
        self.assertTrue(result.ends_right)

    def test_settle_times_have_no_tolerance(self):
        seconds = [round(s.seconds, 3) for s in score(ASKED, SHOWN, 0, 50).settles]
        self.assertEqual(seconds, [0.1, 0.2, 0.1, 0.3])

    def test_settle_times_include_the_clients_part(self):
        clients = [round(s.client, 3) for s in score(ASKED, SHOWN, 0, 50, [10.05, 20.1, 20.15, 30.02, 40.01]).settles]
        self.assertEqual(clients, [0.05, 0.1, 0.02, 0.01])

    def test_a_late_state_is_wrong_from_the_tolerance_on(self):
        late = [*SHOWN[:2], Shown(22, "waiting_for_approval", "permission"), *SHOWN[3:]]
        result = score(ASKED, late, 0, 50)
        self.assertEqual(len(result.wrong), 1)
        self.assertAlmostEqual(result.wrong[0].seconds, 2 - TOLERANCE)
        self.assertEqual((result.wrong[0].phase, result.wrong[0].state), ("permission", "working"))
        self.assertAlmostEqual(result.seconds - result.right, 2 - TOLERANCE)

    def test_a_state_is_expected_only_after_the_clients_first_trace(self):
        slow = [*SHOWN[:3], Shown(31.05, "working"), SHOWN[4]]
        self.assertAlmostEqual(score(ASKED, slow, 0, 50).wrong[0].seconds, 1.05 - TOLERANCE)
        self.assertEqual(score(ASKED, slow, 0, 50, [31.0, 40.1]).wrong, [])
        slower = [*SHOWN[:3], Shown(32, "working"), SHOWN[4]]
        self.assertAlmostEqual(score(ASKED, slower, 0, 50, [31.0, 40.1]).wrong[0].seconds, 0.9)

    def test_a_question_that_may_be_asked_already_settles_from_when_it_must_be(self):
        asking = turnings((0, truth.WORKING), (10, truth.ASKED_IN_PASSING), (12, truth.PERMISSION))
        for at, seconds in ((10.5, 0), (12.3, 0.3)):
            result = score(asking, [Shown(0, "working"), Shown(at, "waiting_for_approval", "permission")], 0, 20)
            self.assertEqual([round(s.seconds, 3) for s in result.settles], [seconds])
            self.assertEqual((result.asked, result.missed, result.wrong), (1, [], []))

    def test_a_question_in_passing_is_neither_false_nor_missed(self):
        passing = turnings((0, truth.WORKING), (10, truth.ASKED_IN_PASSING), (11, truth.WORKING), (20, truth.ENDED_TURN))
        quick = [Shown(0, "working"), Shown(10.2, "waiting_for_approval", "permission"), Shown(11.2, "working")]
        for timeline in (quick, quick[:1]):
            result = score(passing, [*timeline, Shown(20.1, "waiting_for_input", "turn_ended")], 0, 30)
            self.assertEqual((result.false_alarms, result.missed, result.wrong, result.asked), ([], [], [], 0))

    def test_a_question_that_was_never_shown_is_missed(self):
        deaf = [Shown(0, "waiting_for_input"), Shown(10.1, "working"), SHOWN[-1]]
        result = score(ASKED, deaf, 0, 50)
        self.assertEqual(len(result.missed), 1)
        self.assertIsNone(result.settles[1].seconds)

    def test_two_questions_with_nothing_between_are_one(self):
        twice = turnings((0, truth.READY), (10, truth.PERMISSION), (20, truth.QUESTION), (30, truth.WORKING))
        self.assertEqual(score(twice, [], 0, 40).asked, 1)

    def test_an_alarm_without_a_question_is_false(self):
        nervous = [*SHOWN[:2], Shown(12, "waiting_for_approval", "permission", "inferred"), Shown(13, "working"), *SHOWN[2:]]
        result = score(ASKED, nervous, 0, 50)
        self.assertEqual([(s.begin, s.end, s.confidence) for s in result.false_alarms], [(12, 13, "inferred")])

    def test_an_alarm_that_stays_after_the_answer_is_false_and_counted_once(self):
        sticky = [*SHOWN[:3], Shown(41, "waiting_for_input", "turn_ended")]
        result = score(ASKED, sticky, 0, 50)
        self.assertEqual(len(result.false_alarms), 1)
        self.assertAlmostEqual(result.false_alarms[0].begin, 30 + TOLERANCE)
        self.assertAlmostEqual(result.false_alarms[0].end, 41)
        # The answer was never shown.
        self.assertIsNone(result.settles[2].seconds)

    def test_a_wrong_kind_is_no_wrong_state(self):
        kind = [*SHOWN[:2], Shown(20.2, "waiting_for_approval", "question"), *SHOWN[3:]]
        result = score(ASKED, kind, 0, 50)
        self.assertAlmostEqual(result.right, result.seconds)
        self.assertLess(result.right_kind, result.seconds)

    def test_a_late_watcher_is_judged_from_its_start(self):
        latecomer = [Shown(25.1, "waiting_for_approval", "permission"), *SHOWN[3:]]
        result = score(ASKED, latecomer, 25, 50)
        self.assertAlmostEqual(result.right, result.seconds)
        self.assertEqual((result.asked, len(result.missed)), (1, 0))
        self.assertEqual(len(result.settles), 2)

    def test_a_row_that_never_appears_is_wrong_once_there_is_something_to_show(self):
        result = score(ASKED, [], 0, 50)
        # Its first moment does not count: a watcher may need it for its first line.
        self.assertAlmostEqual(result.seconds, 50 - TOLERANCE)
        self.assertAlmostEqual(result.right, 10)
        self.assertFalse(result.ends_right)

    def test_a_phase_that_passes_too_quickly_need_not_be_shown(self):
        quick = turnings((0, truth.READY), (10, truth.WORKING), (10.2, truth.ENDED_TURN))
        result = score(quick, [Shown(1, "waiting_for_input", "turn_ended")], 0, 20)
        self.assertAlmostEqual(result.right, result.seconds)
        self.assertEqual(result.settles, [])

    def test_percentiles_are_of_the_nearest_rank(self):
        values = list(range(1, 101))
        self.assertEqual([percentile(values, p) for p in (50, 95, 100)], [50, 95, 100])
        self.assertEqual(percentile([7], 95), 7)
        self.assertIsNone(percentile([], 50))


class Told(unittest.TestCase):
    """The truth itself."""

    def test_turnings_must_be_in_order(self):
        told = truth.Truth()
        told.turn("session", 2, truth.WORKING, "Enter")
        with self.assertRaises(ValueError):
            told.turn("session", 1, truth.READY, "before")

    def test_only_questions_permissions_and_plans_ask(self):
        self.assertTrue(truth.PERMISSION.asks and truth.QUESTION.asks and truth.PLAN.asks)
        self.assertFalse(truth.WORKING.asks or truth.READY.asks or truth.ENDED.asks)


if __name__ == "__main__":
    unittest.main()
