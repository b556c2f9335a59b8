"""The scenarios: one function each, by name. Importing the modules fills the list."""

from dataclasses import dataclass

from sandbox import Ways

ALL = {}


@dataclass(frozen=True)
class Scenario:
    """One interaction of the user and the client."""

    name: str
    shows: str
    play: object
    ways: Ways
    # It is part of every test run, not only of the whole table.
    smoke: bool
    # The tested program, by its name in `Programs`.
    needs: str


def scenario(shows, ways=Ways(), smoke=False, needs="claude"):
    """Puts a function on the list under its own name."""

    def enlist(play):
        name = play.__name__.replace("_", "-")
        ALL[name] = Scenario(name, shows, play, ways, smoke, needs)
        return play

    return enlist


from . import agents, background, codex, ends, errors, lineage, others, permissions, turns  # noqa: E402,F401  (they enlist themselves)
