"""Streams made to cost a decoder that learns from them as much as they can, and give it nothing.

Each is an endless supply of payloads from a seed. What they have against such a decoder stands in their docstrings.
"""

import json
import re
from collections.abc import Callable, Iterator
from itertools import count
from random import Random

Payloads = Iterator[str]

_WORDS = re.findall(
    r"\w+", "the lantern swings over a quiet harbour while gulls argue with rope about which tide may come next"
)


def _chunk(content: str, *, before: str = "", behind: str = "", choice: str = "") -> str:
    """An ordinary chunk, with more members at its begin, at its end, and at the end of its choice."""
    return (
        f'{{{before}"id":"chatcmpl-1","object":"chat.completion.chunk","created":1764500000,"model":"harbour",'
        f'"choices":[{{"index":0,"delta":{{"content":{json.dumps(content)}}},"finish_reason":null{choice}}}]{behind}}}'
    )


def _word(random: Random) -> str:
    word: str = random.choice(_WORDS)
    return " " + word


def _tree(random: Random, depth: int = 2) -> object:
    kind = random.randrange(6 if depth else 4)
    if kind == 4:
        return [_tree(random, depth - 1) for _ in range(random.randrange(4))]
    if kind == 5:
        return {f"{random.choice(_WORDS)}{random.randrange(100)}": _tree(random, depth - 1) for _ in range(3)}
    leaves = (random.choice(_WORDS), random.randrange(10**6), None, True)
    return leaves[kind]


def random_shapes(random: Random) -> Payloads:
    """No two events have the same members."""
    while True:
        extra = json.dumps({f"x{random.randrange(10**9)}": _tree(random) for _ in range(random.randrange(1, 6))})
        yield _chunk(_word(random), behind="," + extra[1:-1])


def random_first_key(random: Random) -> Payloads:
    """No two events are alike, which shows at once."""
    while True:
        yield _chunk(_word(random), before=f'"x{random.randrange(10**9)}":0,')


def shuffled(random: Random) -> Payloads:
    """The same members in another order each time."""
    members = [(f"member{number}", number) for number in range(8)]
    while True:
        random.shuffle(members)
        yield _chunk(_word(random), behind="," + json.dumps(dict(members))[1:-1])


def late_key(random: Random) -> Payloads:
    """Alike but for the last key."""
    while True:
        yield _chunk(_word(random), behind=f',"x{random.randrange(10**9)}":0')


def late_literal(random: Random) -> Payloads:
    """Alike but for literals at the end, which no template may change: as many shapes as they have forms."""
    while True:
        literals = (random.choice(("null", "true", "false")) for _ in range(6))
        yield _chunk(_word(random), behind="".join(f',"x{at}":{one}' for at, one in enumerate(literals)))


def late_index(random: Random) -> Payloads:
    """Alike but for the index of the choice, which the stream's own logic reads."""
    for number in count():
        yield (
            f'{{"id":"chatcmpl-1","object":"chat.completion.chunk","model":"harbour","choices":[{{"delta":'
            f'{{"content":"{_word(random)}"}},"finish_reason":null,"index":{number % 1000}}}]}}'
        )


def late_byte_behind_long_text(random: Random) -> Payloads:
    """A long text, which fits, is looked through before the key that does not."""
    while True:
        yield _chunk(_word(random) * 300, behind=f',"x{random.randrange(10**9)}":0')


def in_doubt(random: Random) -> Payloads:
    """A long text that fits but for what only a decoder can judge, at its very end."""
    while True:
        text = json.dumps(_word(random) * 100)
        yield _chunk("@").replace('"@"', text[:-1] + '\\ud800"')


def in_doubt_for_ever(random: Random) -> Payloads:
    """The same where the decoder that judges is fast: a zero that has a sign, which nothing is learned from."""
    for number in count():
        yield _chunk("\n" * 500 + _word(random), behind=f',"x":{number if number < 20 else "-0"}')


def huge_integers(random: Random) -> Payloads:
    """A number that changes, and never fits 64 bits."""
    while True:
        yield _chunk(_word(random), behind=f',"x":{random.randrange(10**30, 10**31)}')


def every_other(random: Random) -> Payloads:
    """One that is like the others, and one that is like none: luck never runs out."""
    shapes, alike = random_shapes(random), ordinary(random)
    while True:
        yield next(alike)
        yield next(shapes)


def lucky_then_not(random: Random) -> Payloads:
    """Enough that are alike to be trusted, then as many that are not."""
    shapes, alike = random_shapes(random), ordinary(random)
    while True:
        for source in (alike, shapes):
            for _ in range(64):
                yield next(source)


def growing(random: Random) -> Payloads:
    """One more leaf changes with each event: all that was learned is to be learned again; then another shape."""
    for shape in count():
        for changed in range(40):
            values = (random.randrange(10**6) if at < changed else 0 for at in range(40))
            members = ",".join(f'"s{shape}x{at}":{value}' for at, value in enumerate(values))
            yield _chunk(_word(random), behind="," + members)


def trusted_and_growing(random: Random) -> Payloads:
    """The same, with hits in between that pay for the next lesson."""
    for shape in count():
        for changed in range(12):
            for _ in range(5):
                values = (random.randrange(10**6) if at < changed else 0 for at in range(12))
                members = ",".join(f'"s{shape}x{at}":{value}' for at, value in enumerate(values))
                yield _chunk(_word(random), behind="," + members)


def _round_robin(shapes: int) -> Callable[[Random], Payloads]:
    def payloads(random: Random) -> Payloads:
        for number in count():
            yield _chunk(_word(random), behind=f',"shape{number % shapes}":1')

    payloads.__doc__ = f"{shapes} shapes in turn."
    return payloads


def many_holes(random: Random) -> Payloads:
    """More changes from one to the next than a template has holes for."""
    while True:
        members = ",".join(f'"x{at}":"{_word(random)}{random.randrange(1000)}"' for at in range(20))
        yield _chunk(_word(random), behind="," + members)


def small(random: Random) -> Payloads:
    """The least to decode, so that looking weighs most."""
    while True:
        yield f'{{"x{random.randrange(10**6)}":0}}'


def _alike_of(size: int) -> Callable[[Random], Payloads]:
    def payloads(random: Random) -> Payloads:
        rest = "x" * size
        while True:
            yield _chunk(_word(random), behind=f',"rest":"{rest}"')

    payloads.__doc__ = f"Alike, with {size:,} bytes more that never change."
    return payloads


def _text_of(size: int) -> Callable[[Random], Payloads]:
    def payloads(random: Random) -> Payloads:
        while True:
            yield _chunk("".join(map(_word, [random] * (size // 5))))

    payloads.__doc__ = f"Alike but for {size:,} bytes of text."
    return payloads


def escapes(random: Random) -> Payloads:
    """Alike but for a text in which every character is an escape."""
    while True:
        yield _chunk("".join(random.choice('\n\t"\\') for _ in range(500)))


def escapes_by_number(random: Random) -> Payloads:
    """The same with four digits for each: so servers write all but ASCII, and nothing hostile."""
    while True:
        yield _chunk("".join(chr(random.randrange(0x4E00, 0x9FA6)) for _ in range(500)))


def ordinary(random: Random) -> Payloads:
    """What streams are like; nothing hostile, for comparison."""
    while True:
        yield _chunk(_word(random))


STREAMS: dict[str, Callable[[Random], Payloads]] = {
    "ordinary": ordinary,
    "random shapes": random_shapes,
    "random first key": random_first_key,
    "shuffled members": shuffled,
    "late key": late_key,
    "late literals": late_literal,
    "late index": late_index,
    "late byte behind a long text": late_byte_behind_long_text,
    "doubt behind a long text": in_doubt,
    "fast doubt behind a long text": in_doubt_for_ever,
    "huge integers": huge_integers,
    "every other alike": every_other,
    "64 alike, 64 not": lucky_then_not,
    "growing": growing,
    "growing, with hits between": trusted_and_growing,
    **{f"{shapes} shapes in turn": _round_robin(shapes) for shapes in (9, 16, 64)},
    "20 changing texts": many_holes,
    "small": small,
    **{f"alike, of {size:,} bytes": _alike_of(size) for size in (3000, 5000, 100_000)},
    "text of escapes": escapes,
    "text of escapes by number": escapes_by_number,
    **{f"text of {size:,} bytes": _text_of(size) for size in (3000, 100_000)},
}
