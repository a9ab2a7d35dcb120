"""The contenders: one `Peer` each, called as its users call it, grouped into suites by what comes out.

Every peer of a suite gives the same items for the same body (`check_equal`); which ones a number is compared with
(`references`) and what the project promises (`targets`) stands in `suites`.
"""

from benches.peers.base import Peer, check_equal
from benches.peers.suites import FLOOR, SUITES, Suite, Target

__all__ = ["FLOOR", "SUITES", "Peer", "Suite", "Target", "check_equal"]
