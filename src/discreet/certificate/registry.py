"""A record for the OpenDP Deployments Registry: a certificate in the registry's YAML form.

The registry (github.com/opendp/deployments-registry-data) keeps one YAML file for each deployment,
checked by ``schemas/deployments-schema.yaml``. This writes the form of commit 057e5d8 of that file,
with the sections basic, dp_variant, privacy_loss, deployment_model, implementation and
administrative. What a certificate cannot know (who publishes, what for, which region) is asked for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final, Literal

from discreet.auditor.certificate.json_schema import misfits
from discreet.certificate.certificate import Certificate
from discreet.errors import InvalidArgument, one_line
from discreet.numeric.exact import number, round_up
from discreet.numeric.numerals import short

# -- YAML ------------------------------------------------------------------------------------------


def yaml_text(document: dict[str, Any]) -> str:
    """Nested blocks, each indented by two more spaces. Texts are in double quotes, so that none is
    taken for a date, a number or a flag; those of several lines are literal blocks.

    >>> print(yaml_text({"name": "no", "parts": [{"epsilon": 0.5}, {"epsilon": 1e-06}]}), end="")
    name: "no"
    parts:
      - epsilon: 0.5
      - epsilon: 1.0e-06
    """
    import yaml

    class Dumper(yaml.SafeDumper):  # type: ignore[misc]
        def increase_indent(self, flow: bool = False, indentless: bool = False) -> Any:
            return super().increase_indent(flow, False)

        def represent_str(self, text: str) -> Any:
            style = "|" if _is_literal(text) else '"'
            return self.represent_scalar("tag:yaml.org,2002:str", text, style)

        def represent_dict(self, data: dict[str, Any]) -> Any:
            node = super().represent_dict(data.items())
            for name, _ in node.value:
                name.style = None
            return node

    Dumper.add_representer(str, Dumper.represent_str)
    Dumper.add_representer(dict, Dumper.represent_dict)
    return str(yaml.dump(document, Dumper=Dumper, width=math.inf, allow_unicode=True))


def _is_literal(text: str) -> bool:
    """Has it several lines of plain characters, none of them blank or starting with a space?"""
    lines = text.split("\n")
    return len(lines) > 1 and all(
        line.isprintable() and line.strip() and not line[0].isspace() for line in lines
    )


# -- the record ------------------------------------------------------------------------------------


CURATORS: Final = ("Government", "Industry", "Nonprofit")
SECTORS: Final = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")


def registry_record(
    certificate: Certificate,
    *,
    curator: str,
    curator_type: Literal["Government", "Industry", "Nonprofit"],
    intended_use: str,
    region: str,
    authors: Sequence[str],
    sector: str | None = None,
    name: str | None = None,
) -> str:
    """The record as YAML text, a draft of tier 3 to be sent to the registry as a pull request.

    ``curator`` publishes the data, and ``authors`` write the record; ``name`` is that of the data
    product, which is that of the dataset unless given.
    """
    document = certificate.document
    if wrong := misfits(document):
        raise InvalidArgument(
            "certificate", "a certificate of version 1", "another document", hint=wrong[0]
        )
    _one_of(curator_type, CURATORS, name="curator_type")
    if sector is not None:
        _one_of(sector, SECTORS, name="sector")
    if isinstance(authors, str) or not authors:
        raise InvalidArgument("authors", "a list of names, one at least", "none")
    title = document["dataset"] if name is None else name
    record = {
        "url_slug": _slug(f"{title} {curator} {document['time'][:4]}"),
        "deployment": {
            "basic": {
                "name": title,
                "data_curators": [
                    {"data_curator_name": curator, "data_curator_type": curator_type}
                ],
                "description": document["query"]["words"],
                "intended_use": intended_use,
                "data_product_type": "Summary statistics",
                "data_product_region": region,
                **({} if sector is None else {"data_product_sector": sector}),
                "publication_date": document["time"][:10],
            },
            **_privacy(document),
            "deployment_model": {
                "model_name": "Central",
                "trust_assumptions": f"{curator} holds the data and runs the software; nobody who "
                "sees what is released needs to be trusted.",
                "release_type": "One release",
                "release_type_details": "One query. The budget of the dataset bounds what all "
                "queries about it cost together.",
                "access_type": "Non-interactive",
            },
            "implementation": _implementation(document),
            "administrative": {"status": "Draft", "registry_authors": list(authors), "tier": 3},
        },
    }
    return yaml_text(record)


def _privacy(document: dict[str, Any]) -> dict[str, Any]:
    """Flavour and loss, as charged to the dataset; as (ε, δ) where the registry has no name."""
    charge, points = document["charges"][0], document["guarantee"]["points"]
    amount, exact = Fraction(charge["amount"]), Fraction(charge["slack"]) == 0
    parameters: dict[str, float]
    if charge["notion"] == "pure" and exact:
        variant, parameters = "Pure DP", {"epsilon": _number(amount)}
    elif charge["notion"] == "zcdp" and exact:
        variant, parameters = "Zero-concentrated DP", {"rho": _number(amount)}
    elif points:
        variant = "Approximate DP"
        parameters = {name: _number(Fraction(points[0][name])) for name in ("epsilon", "delta")}
    else:
        variant, parameters = "Custom", {}
    unit, relation = document["protects"]["unit"], document["protects"]["relation"]
    change = "added or removed" if relation == "add-remove" else "replaced by others"
    whose = "one row" if unit is None else f"all rows that share one value of the column {unit}"
    keys = document["query"]["tree"]["keys"]
    listed = "Bounds" if keys is None or keys["discovered"] else "The list of groups, bounds"
    many = "any number" if relation == "add-remove" else "a given number"
    return {
        "dp_variant": {
            "variant_name": variant,
            "data_domain": f"Tables of records, of {many} of people.",
            "unprotected_quantities": f"{listed} of values and bounds of what one person adds "
            "are public parameters.",
        },
        "privacy_loss": {
            "privacy_unit": "Row-level" if unit is None else f"All records of one {unit}",
            "privacy_unit_details": f"Two datasets are adjacent if {whose} are {change}.",
            "privacy_parameters": parameters,
            "privacy_parameters_details": f"{document['guarantee']['words']}. Charged, exactly: "
            + "; ".join(_charged(each) for each in document["charges"]),
        },
    }


def _implementation(document: dict[str, Any]) -> dict[str, str]:
    errors = [
        one_line(f"{column['name']}: {column['error']}")
        for column in document["released"]["columns"]
        if column["error"]
    ]
    record, signature = document["ledger"], document["signature"]
    more = [
        f"Certificate: SHA-256 {document['digest']}",
        f"Values: {document['released']['sha256']}",
    ]
    if record:
        more.append(f"Ledger {record['id']}, record {record['record']}, hash {record['hash']}")
    if signature:
        more.append(f"Signed with the Ed25519 key {signature['public_key']}")
    return {
        "preprocessing_and_hyperparameter_tuning": "Rows are filtered one by one, values clamped, "
        "and what is kept of each person is bounded, all as the query says, before anything is "
        "computed. Where its parameters come from is not part of the certificate.",
        "mechanisms": "\n".join(
            [
                *(one_line(_mechanism(one)) for one in document["mechanisms"]),
                "- Noise is exact on a grid of integers, so that there are no floating-point gaps; "
                f"discreet {document['software']['discreet']}",
            ]
        ),
        "composition": "All mechanisms run on the same people: their privacy losses add up. Within "
        "one query a person touches at most as many groups as the query keeps of them.",
        "post_processing": "Ratios of noisy sums and counts, clamped to declared bounds.",
        "utility": "\n".join(f"- {error}" for error in errors) or "See the released table.",
        "additional_information": "\n".join(f"- {line}" for line in more),
    }


def _mechanism(one: dict[str, Any]) -> str:
    size = {
        name: _readable(one[name]) for name in ("scale", "sigma", "epsilon", "delta") if name in one
    }
    told = {
        "laplace": "discrete Laplace noise of scale {scale}",
        "gaussian": "rounded Gaussian noise of σ {sigma}",
        "quantiles": "exponential mechanism of ε {epsilon}",
        "top k": "exponential mechanism of ε {epsilon}",
        "keys": "truncated geometric selection of (ε, δ) = ({epsilon}, {delta})",
    }[one["mechanism"]].format(**size)
    norms = ", ".join(f"{norm} {_readable(moved)}" for norm, moved in one["sensitivity"].items())
    step = f", in steps of {_readable(one['step'])}" if "step" in one else ""
    often = f", {one['times']} times per person" if one["times"] > 1 else ""
    return f"- {one['for']}: {told} for a sensitivity of {norms}{step}{often}"


def _charged(charge: dict[str, str]) -> str:
    symbol = {"pure": "ε", "zcdp": "ρ", "gdp": "μ²"}[charge["notion"]]
    slack = "" if charge["slack"] == "0" else f", δ₀ = {charge['slack']}"
    return f"{symbol} = {charge['amount']}{slack} ({charge['account']})"


def _number(x: Fraction) -> float:
    """The float that would be typed for x if there is one, or else x rounded up."""
    nearest = float(x)
    return nearest if number(nearest, name="x") == x else round_up(x)


def _readable(text: str) -> str:
    return text if len(text) < 12 else f"about {short(float(Fraction(text)))}"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "release"


def _one_of(value: str, allowed: Sequence[str], *, name: str) -> None:
    if value not in allowed:
        raise InvalidArgument.unknown(name, allowed, value)
