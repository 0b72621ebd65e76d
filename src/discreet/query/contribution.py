"""How much one person can contribute to an answer: groups, and rows in each of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.errors import Idiom, InvalidArgument, Phrase
from discreet.neighbors import Relation
from discreet.numeric.exact import integer, sqrt_up
from discreet.query.limits import ROWS, check
from discreet.sensitivity import Sensitivity


@dataclass(frozen=True, slots=True)
class ContributionBound:
    """How many rows of one person are kept: in each of `max_groups` groups at most
    `max_rows_per_group`, or over all groups at most `max_rows`."""

    max_groups: int | None = None
    max_rows_per_group: int | None = None
    max_rows: int | None = None

    @classmethod
    def read(
        cls, max_groups: int | None, max_rows_per_group: int | None, max_rows: int | None
    ) -> ContributionBound:
        """Check that exactly one of the two kinds of bound is given."""
        by_group = max_groups is not None or max_rows_per_group is not None
        if by_group == (max_rows is not None):
            raise InvalidArgument(
                "bound",
                Phrase("{max_groups=} and {max_rows_per_group=}, or {max_rows=} alone"),
                "both" if by_group else "none of them",
                hint=Phrase("as in {}", Idiom.BOUND_BY_GROUP),
            )
        given = {
            "max_groups": max_groups,
            "max_rows_per_group": max_rows_per_group,
            "max_rows": max_rows,
        }
        limits = {
            name: integer(value, name=name, minimum=1)
            for name, value in given.items()
            if value is not None
        }
        for name, limit in limits.items():
            check(limit, ROWS, name=name, what="for one person", hint="it sets the noise")
        return cls(**limits)


@dataclass(frozen=True, slots=True)
class Contribution:
    """The most that one person adds to an answer: rows in each of some groups.

    `groups` is how many groups one person can be in, `rows` how many rows they can have in one
    group, and `total` how many in all groups. When a person is replaced, the one who leaves and the
    one who comes can each contribute that much.
    """

    groups: int
    rows: int
    total: int
    relation: Relation
    grouped: bool  # is there more than one group at all?
    cells: int = 1  # how many numbers a group has; a row counts towards one of them

    @property
    def choices(self) -> int:
        """How many of the choices, one per group, a person can influence with `rows` rows each.

        Someone with fewer rows in a group influences its choice less, in proportion.
        """
        return -(-self.total // self.rows)

    @property
    def touched(self) -> int:
        """How many numbers may differ between neighbours."""
        one = min(self.total, self.groups * min(self.rows, self.cells))
        most = one * self.relation.add_remove_steps
        return most if self.grouped else min(most, self.cells)

    def in_cells(self, cells: int) -> Contribution:
        """This contribution where a row counts towards one of several cells of its group."""
        return replace(self, cells=cells)

    def one_row(self) -> Contribution:
        """This contribution where a person counts once in a group, however many rows they have."""
        return replace(self, rows=1, total=self.groups)

    def moves(self, *, largest: Fraction, reach: Fraction) -> Sensitivity:
        """How far sums over rows can move, if each row adds between −`largest` and `largest`.

        `reach` is how far apart what two people contribute with one row can be: at least `largest`
        and at most twice that.

        >>> one = Contribution(3, 5, 15, Relation.ADD_REMOVE, True)
        >>> one.moves(largest=Fraction(1), reach=Fraction(1)).l1
        Fraction(15, 1)
        """
        # l1: every row at its largest; l2: as many as possible in one group, then the next
        full, rest = divmod(self.total, self.rows)
        square = full * self.rows**2 + rest**2
        far = largest if self.relation is Relation.ADD_REMOVE else reach
        l1, l2 = self.total * far, square * far**2
        if self.relation is not Relation.ADD_REMOVE and (self.grouped or self.cells > 1):
            # Two people in the same cells: each cell moves by rows·reach. In different cells: twice
            # as many move by rows·largest. If there is only one cell, only the first can occur.
            l1, l2 = max(l1, 2 * self.total * largest), max(l2, 2 * square * largest**2)
        return Sensitivity(l0=self.touched, linf=self.rows * far, l1=l1, l2=sqrt_up(l2))


def contribution_of(
    bound: ContributionBound | None, *, unit: str | None, relation: Relation, groups: int | None
) -> Contribution:
    """What one person adds, from what was declared; `groups` is how many there are, if listed.

    Without a unit, a person is one row in one group.
    """
    grouped = groups is None or groups > 1
    if unit is None:
        return Contribution(1, 1, 1, relation, grouped)
    if bound is None:
        raise InvalidArgument.missing(
            "bound",
            f"given, since one {unit} may have any number of rows",
            hint=Phrase("say {} or {} first", Idiom.BOUND_BY_GROUP, Idiom.BOUND_BY_ROWS),
        )
    if bound.max_rows is not None:
        rows = bound.max_rows
        return Contribution(min(rows, groups or rows), rows, rows, relation, grouped)
    if bound.max_rows_per_group is None or (bound.max_groups is None and grouped):
        missing = "max_groups" if bound.max_groups is None else "max_rows_per_group"
        raise InvalidArgument.missing(
            missing,
            f"given, since one {unit} may be in any number of groups and rows",
            hint=Phrase("say {}", Idiom.BOUND_BY_GROUP),
        )
    touched = min(bound.max_groups or 1, groups or bound.max_groups or 1)
    rows = bound.max_rows_per_group
    return Contribution(touched, rows, touched * rows, relation, grouped)
