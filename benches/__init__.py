"""Benchmarks: one input, many readers of it, equal output asserted before anything is timed.

`python -m benches` compares everything in one interleaved run; `python -m pytest benches` runs the same pairs through
pytest-benchmark; `python -m benches.gil` and `python -m benches.memory` measure threads and memory.
"""
