"""Pages and plots of what was measured: `benches/results` in, `docs/benchmarks.md` and the figures of other pages out.

Nothing is measured here and no number is written by hand. What a page says and what a plot shows is found first, as
plain data; only drawing the plots needs a package (matplotlib), so that a test can hold the pages against the figures
without it.
"""
