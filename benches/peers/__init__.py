"""The contenders: one `Peer` each, called as its users call it, grouped into suites by what comes out.

Every peer of a suite gives the same items for the same body (`check_equal`); which ones a number is compared with
(`references`) stands in `suites`.
"""

from benches.peers.base import Peer, check_equal
from benches.peers.suites import SUITES, Suite

__all__ = ["SUITES", "Peer", "Suite", "check_equal"]
