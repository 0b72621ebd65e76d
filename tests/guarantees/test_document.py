"""JSON: every guarantee comes back equal, and nothing else gets in."""

import json
from contextlib import suppress
from fractions import Fraction
from inspect import isabstract

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.guarantees import (
    GDP,
    ZCDP,
    Approx,
    BoundedRange,
    Composition,
    Failing,
    Guarantee,
    LaplacePair,
    Least,
    LossDistribution,
    Pure,
    ResponsePair,
    SampledPair,
    TotalVariation,
    compose,
)
from discreet.guarantees.document import from_json, to_json
from discreet.guarantees.grouped import GroupPrivacy
from discreet.guarantees.guarantee import KINDS
from discreet.guarantees.key_discovery import KeyPair
from discreet.guarantees.loss_distribution import Outcomes

sizes = st.fractions(0, 10**9, max_denominator=10**9)
chances = st.fractions(0, 1)
whole = st.integers(1, 10**9)
single = st.one_of(
    st.builds(Pure, sizes),
    st.builds(Approx, sizes, chances),
    st.builds(ZCDP, sizes),
    st.builds(GDP, sizes),
    st.builds(TotalVariation, chances),
    st.builds(LaplacePair, sizes, st.none() | whole),
    st.builds(BoundedRange, sizes),
    st.builds(ResponsePair, sizes, st.integers(2, 10**9)),
)
sampled = st.builds(SampledPair, single, chances)
one_way = sampled.map(lambda g: g.add) | sampled.map(lambda g: g.remove)
least = st.lists(single | sampled, min_size=1, max_size=4).map(Least)
failing = st.builds(Failing, single | sampled, chances)
grouped = st.builds(GroupPrivacy, sampled, st.integers(2, 10**6))
coins = st.lists(st.tuples(chances, chances).map(lambda pair: tuple(sorted(pair))), max_size=3)
keys = st.builds(
    lambda coins, failing: KeyPair(coins=coins, base=Pure(1), failing=failing), coins, chances
) | st.builds(lambda q, mu: KeyPair(coins=[(0, q)], base=GDP(mu), stepwise=True), chances, sizes)
masses = st.integers(1, 100)
laws = st.lists(st.tuples(masses, masses), min_size=1, max_size=6).map(
    lambda pairs: LossDistribution.from_laws(
        *([Fraction(m, sum(column)) for m in column] for column in zip(*pairs, strict=True))
    )
)
other = least | failing | grouped | keys | laws
composed = st.lists(
    st.tuples(single | sampled | other, st.integers(1, 10**6)), min_size=1, max_size=4
).map(lambda parts: compose([g.repeat(count) for g, count in parts]))
guarantees = single | sampled | one_way | other | composed


@given(guarantees)
def test_round_trip(g):
    """Catches a field that is lost, rounded or read back as another; for every notion."""
    text = to_json(g)
    assert from_json(text) == g == g.from_json(g.to_json())
    assert type(from_json(text)) is type(g)
    assert to_json(from_json(text)) == text


@given(guarantees)
def test_one_way_to_write(g):
    """Catches texts that differ for equal guarantees: keys are sorted, without spaces, in ASCII."""
    text = to_json(g)
    document = json.loads(text)
    assert text == json.dumps(document, sort_keys=True, separators=(",", ":"))
    assert text.isascii() and document["version"] == 1 and document["notion"] in KINDS


def test_known_texts():
    """The format is a promise to other programs: catches any change to it."""
    assert to_json(Approx("1/2", "1e-6")) == (
        '{"delta":"1/1000000","epsilon":"1/2","notion":"approx","version":1}'
    )
    assert to_json(LaplacePair(1)) == (
        '{"epsilon":"1","notion":"laplace","steps":null,"version":1}'
    )
    assert to_json(compose([Pure(1).repeat(3), SampledPair(GDP(1), "0.1")])) == (
        '{"notion":"composition","parts":[[{"epsilon":"1","notion":"pure"},3],'
        '[{"base":{"mu":"1","notion":"gdp"},"notion":"sampled","rate":"1/10"},1]],"version":1}'
    )


def test_how_it_is_computed_is_not_part_of_it():
    """Catches memory limits of one machine that travel to another; the promise is the same."""
    coarse = compose([LaplacePair(1), GDP(1)], tolerance=0.1, memory=2**20)
    back = from_json(to_json(coarse))
    assert isinstance(back, Composition)
    assert back == coarse and back.tolerance is None and back.memory == 2**30


def test_repeated_gaussians_in_a_composition_stay_exact():
    """Catches merging on the way in: √3 is not rational, so it would be another guarantee."""
    g = compose([Pure(1), GDP(1)]).repeat(3)
    assert from_json(to_json(g)) == g


def test_laws_come_back_as_one_table_or_as_two():
    """Catches exact laws that are taken for bounds after a round trip, or the other way round:
    only a table that is both of them gives an exact bracket."""
    exact = LossDistribution.from_laws([0.5, 0.5], [0.25, 0.75])
    bounds = LossDistribution(exact.pessimistic, Outcomes(((Fraction(1), Fraction(1)),)))
    for g in (exact, bounds):
        back = from_json(to_json(g))
        assert back == g and back.bracket(0) == g.bracket(0)
        assert (back.optimistic is back.pessimistic) == (g is exact)


PURE = '{"epsilon":"1","notion":"pure"}'


def composition(*parts: str) -> str:
    return f'{{"notion":"composition","parts":[{",".join(parts)}],"version":1}}'


def one_way_document(swapped: str) -> str:
    base = '{"base":{"mu":"1","notion":"gdp"},"notion":"sampled","rate":"1/10"}'
    return f'{{"notion":"one way","pair":{base},"swapped":{swapped}}}'


def laws_document(table: str) -> str:
    return f'{{"notion":"laws","optimistic":{table},"pessimistic":{table},"version":1}}'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "text must be JSON"),
        ("nonsense", "text must be JSON"),
        ("null", "a JSON object"),
        ("[]", "a JSON object"),
        ('{"epsilon":"1","notion":"pure"}', '"version"'),
        ('{"epsilon":"1","notion":"pure","version":2}', "version must be 1"),
        ('{"epsilon":"1","notion":"pure","version":"1"}', "version must be 1"),
        ('{"epsilon":"1","notion":"pure","version":true}', "version must be 1"),
        ('{"epsilon":"1","notion":"purr","version":1}', "notion must be one of"),
        ('{"epsilon":"1","notion":["pure"],"version":1}', "notion must be one of"),
        ('{"epsilon":"1","version":1}', "notion must be one of"),
        ('{"notion":"pure","version":1}', "notion, epsilon"),
        ('{"delta":"0","epsilon":"1","notion":"pure","version":1}', "notion, epsilon"),
        ('{"epsilon":"1","epsilon":"2","notion":"pure","version":1}', "each key once"),
        ('{"epsilon":1,"notion":"pure","version":1}', "a number as text"),
        ('{"epsilon":0.1,"notion":"pure","version":1}', "a number as text"),
        ('{"epsilon":NaN,"notion":"pure","version":1}', "a number as text"),
        ('{"epsilon":"nan","notion":"pure","version":1}', "a finite number"),
        ('{"epsilon":"1/0","notion":"pure","version":1}', "a number"),
        ('{"epsilon":"one","notion":"pure","version":1}', "a number"),
        ('{"epsilon":"-1","notion":"pure","version":1}', "0 or above"),
        ('{"epsilon":"1e999999999","notion":"pure","version":1}', "fits in"),
        ('{"epsilon":"1","notion":"laplace","steps":"2","version":1}', "a whole number"),
        ('{"epsilon":"1","notion":"laplace","steps":true,"version":1}', "a whole number"),
        ('{"epsilon":"1","notion":"laplace","steps":0,"version":1}', "1 or above"),
        ('{"epsilon":"1","notion":"laplace","steps":2.0,"version":1}', "a whole number"),
        ('{"facts":[],"notion":"least","version":1}', "a list of guarantees"),
        ('{"notion":"one way","pair":7,"swapped":true,"version":1}', "a JSON object"),
        (laws_document("[]"), "adding up to 1"),
        (laws_document('[["1","2"]]'), "adding up to 1"),
        (laws_document('[["-1/2","1/2"],["1","1/2"]]'), "0 or above"),
        (laws_document('[["1"]]'), "a list of pairs of numbers"),
        (laws_document('{"1":"1"}'), "a list of pairs of numbers"),
        (composition(), "a list of pairs"),
        (composition("7"), "a list of pairs"),
        (composition(f"[{PURE}]"), "a list of pairs"),
        (composition(f"[{PURE},0]"), "1 or above"),
        (composition(f"[{PURE},true]"), "a whole number"),
        (composition(f'[{{"notion":"composition","parts":[[{PURE},2]]}},2]'), "single mechanism"),
        (
            composition(f"[{one_way_document('true')},1]", f"[{one_way_document('false')},1]"),
            "one order",
        ),
        ('{"epsilon":' + "9" * 5000 + ',"notion":"pure","version":1}', "text must be JSON"),
        ("[" * 100_000, "nested"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "nested"),
        (" " * (2**24 + 1), "characters"),
    ],
    ids=lambda text: text[:60],
)
def test_refused_with_a_sentence(text, expected):
    """Catches a traceback from the parser, a default for a missing key, and a lenient reading."""
    with pytest.raises(InvalidArgument) as caught:
        from_json(text)
    assert expected in str(caught.value)
    assert len(str(caught.value)) < 400
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_deep_but_parsable():
    """Catches recursion that only the parser's own limit would stop."""
    text = PURE
    for _ in range(100):
        text = f'{{"facts":[{text}],"notion":"least"}}'
    with pytest.raises(InvalidArgument, match="nested at most 32 deep"):
        from_json(text[:-1] + ',"version":1}')


@pytest.mark.parametrize("given", [None, 7, b"{}", {"notion": "pure"}], ids=repr)
def test_only_text_is_read(given):
    """Catches a TypeError from inside."""
    with pytest.raises(InvalidArgument, match="JSON text"):
        from_json(given)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["notion", "epsilon", "parts", "base"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(guarantees, st.data())
def test_damaged_documents_are_refused_or_read(g, data):
    """Any value put in any place of a document: a guarantee or an InvalidArgument, no third."""
    document = json.loads(to_json(g))
    place = data.draw(st.sampled_from(sorted(document)))
    document[place] = data.draw(json_values)
    with suppress(InvalidArgument):
        assert isinstance(from_json(json.dumps(document)), Guarantee)


def test_other_classes_are_named():
    """Catches a guarantee that is written as something it is not."""

    class Mine(Pure):
        pass

    with pytest.raises(InvalidArgument, match="a value of type Mine"):
        to_json(Mine(1))


def test_every_notion_is_in_the_table():
    """Catches a new notion without JSON."""

    def below(kind):
        return {kind, *(found for each in kind.__subclasses__() for found in below(each))}

    ours = {kind for kind in below(Guarantee) if kind.__module__.startswith("discreet.")}
    assert {kind for kind in ours if not isabstract(kind)} == set(KINDS.values())
