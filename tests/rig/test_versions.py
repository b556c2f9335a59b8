"""The row of the page with the versions."""

import unittest

import versions

PAGE = """# Agents

| | Claude Code | Codex CLI | Gemini CLI | opencode | Copilot CLI | pi |
|---|---|---|---|---|---|---|
| Verified with | 2.1.1 | 0.9.0; files of 0.63 and 0.118.2 | 0.61.0 | 1.2.3 | 1.2.4 | 1.2.5 |
| Work chains | 1.1.1 | 1.1.1 | – | – | – | – |
"""


class Written(unittest.TestCase):
    """The rig writes its row, and nothing beside it."""

    def test_the_first_version_of_a_cell_is_the_agents(self):
        found = {"claude": "2.1.1", "codex": "0.9.0", "gemini": "0.61.0", "opencode": "1.2.3", "copilot": "1.2.4", "pi": "1.2.5"}
        self.assertEqual(versions.stated(PAGE), found)

    def test_what_stands_behind_a_version_and_other_rows_stay(self):
        text = versions.written(PAGE, {"codex": "0.170.0"})
        self.assertEqual(text, PAGE.replace("0.9.0;", "0.170.0;"))

    def test_the_page_names_the_pinned_versions(self):
        self.assertEqual(versions.stated(versions.PAGE.read_text()), versions.PINNED)


if __name__ == "__main__":
    unittest.main()
