"""Who is protected: names, steps and the distance between datasets."""

import math
from itertools import combinations_with_replacement

import pytest

from discreet.errors import InvalidArgument
from discreet.neighbors import Relation, Unit, distance

RECORDS = "abc"
DATASETS = [d for size in range(4) for d in combinations_with_replacement(RECORDS, size)]


def neighbours(dataset, relation):
    """All neighbours by the definition itself: remove, add, or exchange one record."""
    without = [dataset[:i] + dataset[i + 1 :] for i in range(len(dataset))]
    if relation is Relation.ADD_REMOVE:
        found = without + [(*dataset, record) for record in RECORDS]
    else:
        found = [(*rest, record) for rest in without for record in RECORDS]
    return {tuple(sorted(neighbour)) for neighbour in found} - {dataset}


@pytest.mark.parametrize("relation", Relation)
def test_distance_one_is_the_definition_of_neighbours(relation):
    """Catches a formula that disagrees with removing, adding or exchanging a record."""
    for x in DATASETS:
        assert {y for y in DATASETS if distance(x, y, relation) == 1} == {
            y for y in neighbours(x, relation) if y in DATASETS
        }


@pytest.mark.parametrize("relation", Relation)
def test_distance_is_a_metric(relation):
    for x in DATASETS:
        for y in DATASETS:
            apart = distance(x, y, relation)
            assert apart == distance(y, x, relation)
            assert (apart == 0) == (x == y)
            for z in DATASETS:
                assert apart <= distance(x, z, relation) + distance(z, y, relation)


def test_claim_17_distance_is_l1_between_multisets():
    """A multiset is a vector of multiplicities; a replacement is two steps of add-remove."""
    for x in DATASETS:
        for y in DATASETS:
            l1 = sum(abs(x.count(record) - y.count(record)) for record in RECORDS)
            assert distance(x, y, "add-remove") == l1
            if len(x) == len(y):
                assert l1 == distance(x, y, "replace") * Relation.REPLACE.add_remove_steps
            else:
                assert distance(x, y, "replace") == math.inf
    assert Relation.ADD_REMOVE.add_remove_steps == 1


def test_relation_reads_its_own_names():
    for relation in Relation:
        assert Relation.parse(relation) is Relation.parse(str(relation)) is relation


@pytest.mark.parametrize("value", ["substitute", "REPLACE", "", None, 1, ["replace"]], ids=repr)
def test_unknown_relations_are_refused_with_the_known_ones(value):
    """Catches a silent default for the question that decides who is protected."""
    with pytest.raises(InvalidArgument, match=r'^neighbours must be "add-remove" or "replace", '):
        Relation.parse(value, name="neighbours")


def test_unit_is_a_row_or_a_column():
    assert Unit() == Unit(None) != Unit("patient_id")
    assert Unit("patient_id").column == "patient_id"


@pytest.mark.parametrize("column", ["", 3, b"id", ["id"]], ids=repr)
def test_unit_column_must_be_a_name(column):
    with pytest.raises(InvalidArgument, match=r"^unit must be None or a column's name, got "):
        Unit(column)
