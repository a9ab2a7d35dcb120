"""The sections of the page, in their order."""

from benches.reporting.sections import suites
from benches.reporting.sections.core import CORE
from benches.reporting.sections.hits import HITS
from benches.reporting.sections.loops import ASYNCIO, THREADS
from benches.reporting.sections.more import MORE
from benches.reporting.sections.overview import OVERVIEW
from benches.reporting.sections.promises import PROMISES
from benches.reporting.sections.wire import LATENCY, LOOPBACK

SECTIONS = (OVERVIEW, *suites.sections(), HITS, LOOPBACK, ASYNCIO, THREADS, LATENCY, CORE, *MORE, PROMISES)

__all__ = ["SECTIONS"]
