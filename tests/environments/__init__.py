"""What cannot be tested beside the rest, each in an environment of its own, which `SSEWIRE_ENVIRONMENT` names.

`niquests` puts urllib3-future in the place of urllib3, for requests too: there `tests/clients` runs with all three.
`old-urllib3` has one that can only be refused. In `oldest` every client has the lowest version that `pyproject.toml`
names, and the chief scenarios of `tests/clients` are read with it. The Makefile makes them all.
"""
