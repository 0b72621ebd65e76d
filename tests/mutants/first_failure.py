"""A plugin for pytest: the first example that fails will do, nobody looks for a smaller one."""

from hypothesis import Phase, settings

settings.register_profile(
    "mutants",
    settings.get_profile("ci"),
    phases=(Phase.explicit, Phase.generate),
)
