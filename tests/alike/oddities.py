"""What the mutator puts into events: usual texts, and values, keys and whole events that a reader may stumble over."""

from __future__ import annotations

from typing import Final

from tests.dialects.answer import WORDS

# The texts of an ordinary stream: each is the body of a JSON string.
USUAL: Final = [
    *(b" " + word.encode() for word in WORDS),
    b" tide",
    b"\\n",
    b"\\n\\n",
    b'\\"',
    b" caf\xc3\xa9",
    b" \xe7\x81\xaf\xe5\x8f\xb0",
    b" \xf0\x9f\x90\x9f",
    b"\\u00e9",
    b"\\ud83d\\ude00",
    b"",
    b'{\\"a\\":',
    b"\\\\",
    b"\\t",
    b"<b>",
]

# Bodies of strings, valid or not, that something could make of another thing than a decoder does.
ODD_TEXTS: Final = (
    b"error",
    b'\\"error',
    b'\\"error\\"',
    b"err\\u006fr",
    b"\\\\error",
    b"errors",
    b"hole 1000",
    b"hole\\u00201000",
    b"hole 1001",
    b"hole 2000",
    b"h\\u006fle 1001",
    b"[DONE]",
    b"data: [DONE]\\n\\n",
    b"stop",
    b"null",
    b"0",
    b"content",
    b"choices",
    b"finish_reason",
    b"\\ud83d",
    b"\\ude00",
    b"\\ude00\\ud83d",
    b"\\ud83d\\u0041",
    b"\\ud83d\\ud83d\\ude00",
    b"\\uD83D\\uDE00",
    b"\\ud83dx\\ude00",
    b"\\ud83d\\n",
    b"\\udbff\\udfff",
    b"\\ud800\\udc00",
    b"\\u0000",
    b"\\u001f\\u007f\\u0080",
    b"\\uffff\\ufffe\\ufeff",
    b"\\u2028\\u2029\\u0085",
    b"\\u12",
    b"\\u12g4",
    b"\\u+123",
    b"\\u 123",
    b"\\x41",
    b"\\'",
    b"\\",
    b'\\b\\f\\n\\r\\t\\/\\\\\\"',
    b"\x00",
    b"\x01",
    b"\x1f",
    b"\t",
    b"\x7f",
    b"\xff",
    b"\xc3",
    b"\xc3\x28",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xed\xa0\xbd\xed\xb8\x80",
    b"\xf4\x90\x80\x80",
    b"\xf4\x8f\xbf\xbf",
    b"\xe2\x80\xa8",
    b"\xc2\x85",
    b"\xef\xbb\xbf",
    b"\xf0\x9f\x90",
    b"x" * 7 + b'\\"' + b"y" * 8,
    b"x" * 8 + b"\xc3\xa9" + b"y" * 7,
    b"x" * 3000,
    b"\\u00e9" * 800,
    b"\xf0\x9f\x90\x9f" * 900,
    b"ab\\u0000cd\xc3\xa9" * 30,
)

ODD_NUMBERS: Final = (
    b"0", b"-0", b"1", b"-1", b"00", b"01", b"-01", b"+1", b"1.", b".5", b"-", b"1e", b"1e+", b"1E3", b"1e3", b"1e-3",
    b"1e+3", b"0e0", b"-0e0", b"0.0", b"-0.0", b"1.0", b"1.0e0", b"10.50", b"0.1", b"1000", b"1000.5", b"1000.50",
    b"1.0005e3", b"10005e-1", b"1001.5", b"2000", b"1e400", b"-1e400", b"1E400", b"1e-400", b"-1e-400", b"1e308",
    b"1.7976931348623157e308", b"1.7976931348623159e308", b"5e-324", b"2.4703282292062327e-324", b"3e-324",
    b"2.2250738585072011e-308", b"9007199254740991", b"9007199254740992", b"9007199254740993", b"9007199254740993.0",
    b"9223372036854775807", b"9223372036854775808", b"-9223372036854775808", b"-9223372036854775809",
    b"18446744073709551615", b"18446744073709551616", b"100000000000000000", b"999999999999999999",
    b"1000000000000000000", b"1" * 40, b"-" + b"9" * 30, b"0." + b"3" * 60, b"1" * 60 + b".5", b"1" * 400 + b".5",
    b"123456789012345678.5", b"0.000000000000000000000000000001", b"1" * 5000, b"1.5.5", b"1-1", b"0x10", b"1_000",
    b"NaN", b"Infinity", b"-Infinity",
)  # fmt: skip

ODD_VALUES: Final = (
    b"null", b"true", b"false", b"{}", b"[]", b'""', b'"x"', b"7", b"7.5", b'{"a":1}', b'["a"]', b"[[]]", b"[null]",
    b'{"error":"e"}', b'"error"', b"nul", b"True", b"", b"{", b"]", b'"', b'{"content":"x"}', b'[{"delta":{}}]',
    b'{"":{"":{"":[]}}}', b"[" * 40 + b"]" * 40,
)  # fmt: skip

ODD_KEYS: Final = (
    b"error", b"err\\u006fr", b"object", b"obj\\u0065ct", b"index", b"\\u0069ndex", b"finish_reason",
    b"finish\\u005freason", b"type", b"usage", b"choices", b"delta", b"content", b"role", b"message", b"x_groq", b"",
    b"a", b"tool_calls", b"logprobs", b"created", b"id", b"errors", b'\\"error', b"\xff", b"\n",
)  # fmt: skip

# What stands between two events, or is one that is no chunk. Each ends with a blank line.
BETWEEN: Final = (
    b": keep-alive\n\n",
    b":\n\n",
    b"\n",
    b"\r\n",
    b"data:\n\n",
    b"data\n\n",
    b"data: null\n\n",
    b'event: error\ndata: {"message":"m"}\n\n',
    b'data: {"error":{"message":"m","type":"t","code":5}}\n\n',
    b'data: {"error":null,"choices":[{"delta":{"content":"x"}}]}\n\n',
    b'data: {"type":"error","message":"m"}\n\n',
    b'error: {"message":"m"}\n\n',
    b"event: ping\ndata: {}\n\n",
    b"data: oops\n\n",
    b'data: {"choices":[{"delta":{"content":"\n\n',
    b"retry: 10\n\n",
    b"reset by peer\n\n",
    b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n',
    b'data: {"choices":[{"index":1,"delta":{},"finish_reason":"length"}]}\n\n',
    b'data: {"choices":[],"usage":{"total_tokens":9}}\n\n',
)
