"""The witness sets: the evidence that each of the parallel watchers may use."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Witnesses:
    """One watcher's share of the evidence."""

    name: str
    title: str
    registry: bool = True
    # "" for none, "installed" for the entries that `watchbill hooks install` writes, "sent" for copies of them,
    # "lossy" for copies that lose some events.
    hooks: str = "sent"
    late: bool = False
    # It runs in every test run, not only for the whole table.
    smoke: bool = False

    @property
    def hears_everything(self):
        """Whether it has all witnesses."""
        return self.registry and self.hooks in ("installed", "sent") and not self.late


SETS = [
    Witnesses("all", "all", hooks="installed", smoke=True),
    Witnesses("no_hooks", "without hooks", hooks=""),
    Witnesses("no_registry", "without registry", registry=False),
    Witnesses("files", "files alone", registry=False, hooks="", smoke=True),
    Witnesses("lossy", "5 % of hooks lost", hooks="lossy"),
    Witnesses("late", "receiver started late", late=True),
]
