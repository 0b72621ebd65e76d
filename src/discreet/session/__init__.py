"""Plan → charge → run → noise → release."""

from discreet.session.session import Session as Session
