"""Benchmarks: one input, many readers of it, equal output asserted before anything is timed.

`python -m benches` compares everything in one interleaved run; `python -m pytest benches` runs the same pairs through
pytest-benchmark. What else is measured has a module of its own, each `python -m benches.<name>`: `loopback`, `latency`,
`asyncio_streams`, `fairness`, `threads`, `gil`, `memory`, `linearity`, `hostile`, `imports`, `ways`.
"""
