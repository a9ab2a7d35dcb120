"""All clients that the tests read with in this environment, and all that the documents tell of."""

from __future__ import annotations

import os

from tests.clients import (
    adapters_bare,
    adapters_httpx,
    adapters_native,
    adapters_niquests,
    adapters_sdks,
    adapters_urllib3,
)

HTTP = [*adapters_httpx.CLIENTS, *adapters_urllib3.CLIENTS, *adapters_native.CLIENTS]
"""The clients proper."""
CLIENTS = [*HTTP, *adapters_sdks.CLIENTS, *adapters_bare.CLIENTS]
DOCUMENTED = [*HTTP, *adapters_niquests.CLIENTS, *adapters_sdks.CLIENTS, *adapters_bare.CLIENTS]

if os.environ.get("SSEWIRE_ENVIRONMENT") == "niquests":
    # There urllib3-future is in the place of urllib3, for requests too.
    HTTP = [*adapters_niquests.CLIENTS, *(client for client in HTTP if client.name in {"requests", "urllib3"})]
    CLIENTS = HTTP

SYNC = [client for client in HTTP if not client.backends]
ASYNC = [client for client in HTTP if client.backends]
