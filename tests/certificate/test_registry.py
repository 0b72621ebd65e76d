"""Records for the OpenDP Deployments Registry: its fields, its words, readable YAML."""

import re

import pytest
import yaml

from discreet.certificate import registry_record
from discreet.certificate.registry import yaml_text
from discreet.errors import InvalidArgument

from .releases import EVERYTHING, certificate

ASKED = {
    "curator": "Statistics Office",
    "curator_type": "Government",
    "intended_use": "Planning: beds, and “staff”",
    "region": "Europe",
    "authors": ["A. Author", "no"],
}
# Of schemas/deployments-schema.yaml, commit 057e5d8: fields, * for those that are required.
FIELDS = {
    "basic": "name* data_curators* description* intended_use* data_product_type* "
    "data_product_region* data_product_sector publication_date*",
    "dp_variant": "variant_name data_domain unprotected_quantities",
    "privacy_loss": "privacy_unit privacy_unit_details number_of_privacy_units "
    "privacy_parameters privacy_parameters_details",
    "deployment_model": "model_name model_name_details trust_assumptions actors release_type "
    "release_type_details data_source_type data_source_type_details access_type "
    "access_type_details",
    "implementation": "preprocessing_and_hyperparameter_tuning mechanisms composition "
    "post_processing justification utility additional_information",
    "administrative": "evidence_sources status* registry_authors* tier*",
}
VARIANTS = ("Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom")


@pytest.mark.parametrize(
    ("spend", "keys", "variant"),
    [
        ("pure", ("A", "B"), "Pure DP"),
        ("zcdp", ("A", "B"), "Zero-concentrated DP"),
        ("zcdp", "discover", "Approximate DP"),
    ],
)
def test_records_have_the_registrys_fields(spend, keys, variant):
    """Catches a field that the registry would refuse, and one that it requires."""
    sent = certificate(EVERYTHING, spend=spend, keys=keys, ledger="c0" * 16)
    record = yaml.safe_load(registry_record(sent, **ASKED, sector="Healthcare"))
    assert set(record) == {"url_slug", "deployment"}
    assert re.fullmatch(r"[a-z0-9-]+", record["url_slug"])
    deployment = record["deployment"]
    assert set(deployment) == set(FIELDS)
    for section, names in FIELDS.items():
        allowed = {name.rstrip("*") for name in names.split()}
        required = {name.rstrip("*") for name in names.split() if name.endswith("*")}
        assert required <= set(deployment[section]) <= allowed, section
    assert deployment["dp_variant"]["variant_name"] == variant
    assert variant in VARIANTS
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", deployment["basic"]["publication_date"])
    assert deployment["administrative"]["registry_authors"] == ["A. Author", "no"]
    assert deployment["basic"]["intended_use"] == ASKED["intended_use"]
    parameters = deployment["privacy_loss"]["privacy_parameters"]
    assert set(parameters) <= {"epsilon", "delta", "rho"} and all(
        isinstance(value, float) and value > 0 for value in parameters.values()
    )
    assert sent.digest in deployment["implementation"]["additional_information"]


def test_parameters_are_those_charged():
    """Catches a rounding in the wrong direction, and a charge of another account."""
    record = yaml.safe_load(registry_record(certificate(), **ASKED))
    assert record["deployment"]["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0}


def test_wrong_words_are_refused():
    """The registry's enumerations are closed."""
    for change in ({"curator_type": "Person"}, {"sector": "Magic"}, {"authors": []}):
        with pytest.raises(InvalidArgument):
            registry_record(certificate(), **{**ASKED, **change})


def test_yaml_scalars_keep_their_type():
    """Catches text that a YAML reader takes for a flag, a date or a number."""
    tricky = {"a": "no", "b": "2026-01-31", "c": "1e3", "d": 1e-06, "e": 5e-324, "f": "x: y # z"}
    text = yaml_text({**tricky, "g": "one\ntwo", "h": "one\n two", "i": [], "j": ["x", "y"]})
    assert yaml.safe_load(text) == {
        **tricky,
        "g": "one\ntwo",
        "h": "one\n two",
        "i": [],
        "j": ["x", "y"],
    }
