"""The law of the race, on made-up results."""

import unittest

from race_law import WAYS, Decided, broken_in_client

DENIED = "The user said: reason 7."


def breaches(way, results, ran):
    """The breaches of request 7, decided this way."""
    return broken_in_client(Decided(7, way, {}, "session"), results, ran)


class RaceLaw(unittest.TestCase):
    """Each breach is found, and nothing else."""

    def test_what_may_be_is_no_breach(self):
        for way, results, ran in [
            ("yes", [(False, "")], 1),
            ("window deny", [(True, DENIED)], 0),
            ("yes and deny", [(True, DENIED)], 0),
            ("escape and window", [(True, "interrupted")], 1),
            ("client kill", [], 0),
            ("client kill and allow", [], 1),
            ("client kill and allow", [(False, "")], 1),
        ]:
            self.assertEqual(breaches(way, results, ran), [], way)

    def test_each_breach_is_found(self):
        for what, way, results, ran in [
            ("decided twice", "yes", [(False, ""), (False, "")], 2),
            ("never decided", "allow", [], 0),
            ("ran twice", "yes", [(False, "")], 2),
            ("ran although it was refused", "deny", [(True, DENIED)], 1),
            ("not run although it was allowed", "window", [(False, "")], 0),
            ("decided as no one wanted", "yes and window", [(True, "interrupted")], 0),
            ("the reason of another one", "window deny", [(True, "The user said: reason 8.")], 0),
            ("ran for a client that was killed before", "client kill", [], 1),
            ("allowed twice for a killed client", "client kill and allow", [], 2),
        ]:
            self.assertEqual(len(breaches(way, results, ran)), 1, what)

    def test_a_kill_is_the_only_way_to_no_result(self):
        lost = [way for way in WAYS if breaches(way, [], 0) == []]
        self.assertEqual(lost, ["client kill", "client kill and allow"])


if __name__ == "__main__":
    unittest.main()
