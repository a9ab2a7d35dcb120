"""Recognised chunks are the decoded ones: every way of reading, with templates and without, compared in all it tells.

`comparing.py` reads a body both ways; `mutator.py` makes bodies that teach templates and then mislead them; `shapes.py`
has payloads for it. `python -m tests.alike` compares millions of them; the suite some ten thousand.
"""
