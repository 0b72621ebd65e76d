"""Certificates verify, and lies in them are found: by seals, and by computing everything again."""

import copy
from fractions import Fraction

import pytest

from discreet.certificate import Certificate, verify
from discreet.certificate.issue import sealed
from discreet.errors import InvalidArgument
from discreet.signing import create_key, load_private

from .releases import EVERYTHING, QUESTIONS, SPENDS, certificate


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    path = tmp_path_factory.mktemp("keys") / "office.key"
    create_key(path)
    return path


def resealed(document, key=None):
    """The document with digest and signature computed again: a lie by who holds the key."""
    return sealed(document, None if key is None else load_private(key))


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_every_aggregate_verifies(question, relation):
    """Catches an aggregate whose mechanisms, sensitivities or guarantee are not as recomputed."""
    for unit in (None, "id"):
        verdict = verify(certificate(QUESTIONS[question], unit=unit, relation=relation))
        assert verdict.ok, verdict
        assert any("guarantee follows" in one for one in verdict.proved)
        assert any("sensitivities follow" in one for one in verdict.proved)
        assert any("largest losses" in one for one in verdict.proved)


@pytest.mark.parametrize(
    ("spend", "relation"),
    [*((spend, "add-remove") for spend in SPENDS), ("gdp", "replace")],
)
def test_every_notion_verifies(spend, relation):
    """All aggregates at once, on every account that takes them; catches a ρ or μ of Laplace noise
    or choices that the second route does not reach."""
    verdict = verify(certificate(EVERYTHING, spend=spend, relation=relation))
    assert verdict.ok, verdict
    assert sum("no less than the mechanisms take" in one for one in verdict.proved) >= 2


@pytest.mark.parametrize(("spend", "unit"), [("approximate", None), ("zcdp", "id"), ("gdp", None)])
def test_discovered_keys_verify(unit, spend):
    """Catches a table of discovery, or its δ₀, that is not as recomputed."""
    verdict = verify(certificate(EVERYTHING, spend=spend, keys="discover", unit=unit))
    assert verdict.ok, verdict


def leaves(value, path=()):
    if isinstance(value, dict) and value:
        for name in value:
            yield from leaves(value[name], (*path, name))
    elif isinstance(value, list) and value:
        for index, each in enumerate(value):
            yield from leaves(each, (*path, index))
    else:
        yield path


def changed(value):
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            last = value[-1:]
            return value[:-1] + ("1" if last != "1" else "2")
        case None:
            return "something"
        case list() | dict():
            return [1]


def test_every_leaf_is_covered_by_the_seal(key):
    """Changes every single value of a signed certificate; catches one that no check covers."""
    sent = certificate(QUESTIONS["mean"], key=load_private(key), ledger="c0" * 16)
    assert verify(sent).ok
    original, count = sent.document, 0
    for path in leaves(original):
        document = copy.deepcopy(original)
        place = document
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = changed(place[path[-1]])
        verdict = verify(Certificate.of(document))
        assert not verdict.ok, path
        count += 1
    assert count > 60


ODD = [0, -1, 10**30, "0", "1/3", "9" * 1200, "", None, True, [], {}, "laplace", "composition"]


def test_nothing_a_certificate_says_breaks_the_check():
    """Puts odd values everywhere, with a digest that fits: a verdict each time, never an error;
    and whoever lowers a number that counts is found."""
    original = certificate(QUESTIONS["top_k"]).document
    paths = [path for path in leaves(original) if path[0] not in ("digest", "signature")]
    for turn, path in enumerate(paths):
        for odd in (ODD[turn % len(ODD)], ODD[(turn * 5 + 3) % len(ODD)]):
            document = copy.deepcopy(original)
            place = document
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = odd
            verdict = verify(resealed(document))
            assert verdict.ok or verdict.failed


def planted(document, lie):
    """One lie in a certificate; the seals are made anew by the liar."""
    first = document["mechanisms"][0]
    match lie:
        case "noise":
            name = "sigma" if "sigma" in first else "scale"
            first[name] = str(Fraction(first[name]) / 2)
        case "sensitivity":
            norms = first["sensitivity"]
            first["sensitivity"] = {n: str(Fraction(x) / 2) for n, x in norms.items()}
        case "sensitivity and noise":  # so that the guarantee still fits
            for one in document["mechanisms"]:
                for name in ("sigma", "scale"):
                    if name in one:
                        one[name] = str(Fraction(one[name]) / 2)
                norms = one["sensitivity"]
                one["sensitivity"] = {n: str(Fraction(x) / 2) for n, x in norms.items()}
        case "charge":
            document["charges"][0]["amount"] = str(Fraction(document["charges"][0]["amount"]) / 2)
        case "a bit less charge":
            amount = Fraction(document["charges"][-1]["amount"])
            document["charges"][-1]["amount"] = str(amount * (1 - Fraction(1, 10**12)))
        case "point":
            point = document["guarantee"]["points"][0]
            point["epsilon"] = str(Fraction(point["epsilon"]) * Fraction(9, 10))
        case "guarantee":
            document["guarantee"]["document"] = {"notion": "pure", "epsilon": "1/10", "version": 1}
        case "words":
            document["guarantee"]["words"] = "ε = 0.1"
        case "guarantee of a part":
            first["guarantee"] = {"notion": "pure", "epsilon": "1/10", "version": 1}
        case "dropped":
            document["mechanisms"].pop(0)
        case "relation":
            document["query"]["tree"]["relation"] = "replace"
            document["protects"] = {**document["protects"], "relation": "replace"}
            words = document["protects"]["words"]
            document["protects"]["words"] = words.replace("added or removed", "replaced")
        case "more rows":
            document["query"]["tree"]["bound"]["max_rows_per_group"] = 6
            kept = document["query"]["tree"]["contribution"]
            kept["rows"], kept["total"] = 6, kept["groups"] * 6
        case "more keys":
            document["query"]["tree"]["keys"].update(count=3, values=None)
            document["query"]["tree"]["contribution"].update(groups=3, total=15)
        case "wider bounds":
            for one in document["query"]["tree"]["aggregates"]:
                if "bounds" in one:
                    one["bounds"] = ["-300", "6000"]
        case "who":
            document["protects"]["unit"] = "household"
    return document


LIES = [
    "noise",
    "sensitivity",
    "sensitivity and noise",
    "charge",
    "a bit less charge",
    "point",
    "guarantee",
    "words",
    "guarantee of a part",
    "dropped",
    "relation",
    "more rows",
    "more keys",
    "wider bounds",
    "who",
]


@pytest.mark.parametrize("spend", ["pure", "gdp"])
@pytest.mark.parametrize("lie", LIES)
def test_lies_are_found_by_computing_again(lie, spend, key):
    """The liar signs: only the second route and the query's tree can tell."""
    asked = {**QUESTIONS["mean"], **QUESTIONS["count_units"]}
    document = certificate(asked, spend=spend).document
    verdict = verify(resealed(planted(document, lie), key), public_key=f"{key}.pub")
    assert not verdict.ok, (lie, verdict)
    assert any("signed with" in one for one in verdict.proved)


def test_discovery_that_claims_less_delta_is_found():
    """Catches a threshold whose δ is not charged, and coins that hide the lone key."""
    document = certificate(spend="approximate", keys="discover", unit=None).document
    less = copy.deepcopy(document)
    for cost in less["charges"]:
        cost["slack"] = "0"
    assert not verify(resealed(less)).ok
    for path in (("guarantee", "document"), ("mechanisms", -1, "guarantee")):
        hidden = copy.deepcopy(document)
        place = hidden[path[0]] if len(path) == 2 else hidden["mechanisms"][-1]
        promise = place[path[-1]]
        parts = promise.get("parts", [[promise, 1]])
        (keys,) = [part for part, _ in parts if part["notion"] == "keys"]
        keys["coins"] = [coin for coin in keys["coins"] if Fraction(coin[0]) > 0]
        assert not verify(resealed(hidden)).ok


def test_seals_and_keys(key, tmp_path):
    """Catches a missing, a foreign or an unpinned key that passes for a pinned one."""
    create_key(tmp_path / "other.key")
    signed, bare = certificate(key=load_private(key)), certificate()
    assert verify(signed, public_key=f"{key}.pub").ok
    assert any("belongs to whom you think" in one for one in verify(signed).trusted)
    assert not verify(signed, public_key=tmp_path / "other.key.pub").ok
    assert not verify(bare, public_key=f"{key}.pub").ok
    assert any("not signed" in one for one in verify(bare).trusted)
    stolen = {**bare.document, "signature": signed.document["signature"]}
    stolen["dataset"] = "another"
    assert not verify(Certificate.of(stolen)).ok


def test_unknown_versions_and_fields_are_refused():
    """What this version cannot read it does not pass."""
    document = certificate().document
    for lie in ({"version": 2}, {"format": "something"}, {"comment": "trust me"}):
        verdict = verify(resealed({**document, **lie}))
        assert not verdict.ok and not verdict.proved


def test_files_that_hold_no_certificate_are_refused(tmp_path):
    """Catches a float, a key twice, an absurd depth, and a file that is not there."""
    for number, text in enumerate(
        ("", "[]", '{"a":1.5}', '{"a":1,"a":2}', "NaN", "[" * 100_000, '{"a":"\\ud800"}')
    ):
        path = tmp_path / f"{number}.json"
        path.write_text(text)
        with pytest.raises(InvalidArgument):
            verify(path)
    with pytest.raises(InvalidArgument):
        verify(tmp_path / "none.json")


def test_a_saved_certificate_is_the_same(tmp_path):
    """Catches a text that changes on its way through a file, or by being printed with spaces."""
    import json

    sent = certificate(EVERYTHING)
    sent.save(tmp_path / "c.json")
    assert Certificate.load(tmp_path / "c.json") == sent
    pretty = json.dumps(sent.document, indent=2, ensure_ascii=False)
    assert Certificate.from_json(pretty) == sent
    assert sent.guarantee.to_json() == Certificate.load(tmp_path / "c.json").guarantee.to_json()
    assert "visits" in str(sent) and "ε = 1" in repr(sent)
    assert "does not know" in repr(Certificate.from_json("{}"))
