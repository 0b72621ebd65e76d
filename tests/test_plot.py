"""Pictures are an extra: the rest works without it, and the first one says what to install."""

import pytest

import discreet as dp
from discreet import demo, plot


@pytest.fixture(params=["altair", "vl_convert"])
def missing(request, monkeypatch):
    """An installation without one of the two."""
    real = plot.import_module

    def without(name):
        if name == request.param:
            raise ModuleNotFoundError(name)
        return real(name)

    monkeypatch.setattr(plot, "import_module", without)
    return request.param


def test_the_first_picture_says_what_to_install(missing, tmp_path):
    """Catches a bare ModuleNotFoundError."""
    with pytest.raises(dp.Refused, match=rf"{missing}.*pip install 'discreet\[plots\]'"):
        plot.Plot(dp.Pure(1).plot()).save(tmp_path / "profile.svg")
    with pytest.raises(dp.Refused, match="pip install"):
        plot.check_installed()


def test_the_demo_goes_on_without_a_picture(missing, tmp_path, capsys):
    """Catches a first command that ends in an error because of its last line."""
    demo.main(str(tmp_path / "demo.svg"))
    told = capsys.readouterr().out
    assert "No picture: a picture needs" in told and "Spent" in told
