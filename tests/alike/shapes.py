"""Payloads of chunks for the mutator, written by hand: every member that a chunk has, and what servers or nobody put
beside them. The strings and numbers in them are the leaves that change.
"""

from __future__ import annotations

from typing import Final

SHAPES: Final[dict[str, tuple[bytes, ...]]] = {
    "text": (
        b'{"id":"c-1","object":"chat.completion.chunk","created":1770000000,"model":"m","choices":'
        b'[{"index":0,"delta":{"content":" tide"},"finish_reason":null}]}',
        b'{"choices":[{"delta":{"content":"a"}}]}',
        b'{"choices":[{"index":1,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":""}]}',
        b'{"choices":[{"finish_reason":null,"delta":{"content":null,"refusal":"no"}}],"object":"chat.completion.chunk"}',
        b'{"choices":[{"index":9223372036854775807,"delta":{"content":"a"}}]}',
        b'{"choices":[{"index":-1,"delta":{"content":"a"}}]}',
    ),
    "usage": (
        b'{"id":"c-1","choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":7,"completion_tokens":1,'
        b'"total_tokens":8}}',
        b'{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":7.5,"completion_tokens":1e2,"total_tokens":8,'
        b'"prompt_tokens_details":{"cached_tokens":0,"by":{"a":1.5,"b":"x"}},"completion_tokens_details":null}}',
        b'{"usage":{},"choices":[{"delta":{"content":"a"}}]}',
        b'{"usage":null,"choices":[{"delta":{"content":"a"},"usage":{"total_tokens":3}}],"x_groq":{"usage":{"total_tokens":4}}}',
        b'{"choices":[],"usage":{"total_tokens":3}}',
        b'{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"total_tokens":3}}',
    ),
    "counters": (
        b'{"id":"a-1","n":1,"choices":[{"index":0,"delta":{"content":"x","n":2},"n":3}],"created":1.5,"at":-2}',
        b'{"created":1e3,"choices":[{"delta":{"content":"x"},"token":{"id":17,"logprob":-0.25,"special":false}}]}',
    ),
    "padding": (
        b'{"id":"c","choices":[{"index":0,"delta":{"content":"x"}}],"obfuscation":"qwertz","service_tier":"default",'
        b'"system_fingerprint":"fp_1"}',
        b'{"p":"0","choices":[{"delta":{"content":"x"}}],"p":"1","q":["a",["b",{"c":"d","e":[]}],{}]}',
    ),
    "typed parts": (
        b'{"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"x"},{"type":"image","n":1}]}}]}',
        b'{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"t"}]}]}}]}',
        b'{"choices":[{"delta":{"content":["x",1,1.5,null,true,[]]}}]}',
        b'{"choices":[{"delta":{"content":[]}}]}',
    ),
    "reasoning": (
        b'{"choices":[{"index":0,"delta":{"reasoning":"r","reasoning_content":"r","content":""}}]}',
        b'{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","text":"r","index":0,"format":null}]}}]}',
    ),
    "logprobs": (
        b'{"choices":[{"index":0,"delta":{"content":"x"},"logprobs":{"content":[{"token":"x","logprob":-0.5,"bytes":'
        b'[120],"top_logprobs":[{"token":"y","logprob":-1.5e-7}]}],"refusal":null}}]}',
    ),
    "tool calls": (
        b'{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\\"a"}}]}}]}',
        b'{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f",'
        b'"arguments":""}},{"index":1,"id":"call_2","function":{"arguments":"x"}}],"content":null}}]}',
        b'{"choices":[{"delta":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":{"a":1,"b":"c"}}}]}}]}',
        b'{"choices":[{"delta":{"function_call":{"name":"f","arguments":"{"}}}]}',
    ),
    "several": (
        b'{"choices":[{"index":0,"delta":{"content":"x"}},{"index":1,"delta":{"content":"y"}}]}',
        b'{"choices":[{"index":1,"delta":{"content":"x"}},{"index":1,"delta":{"content":"y"}},{"delta":{}}]}',
    ),
    "others": (
        b'{"choices":[{"delta":{"audio":{"id":"a","data":"AAAA","expires_at":5},"images":[{"url":"u"}],'
        b'"annotations":[{"type":"url_citation","start":3}]}}]}',
        b'{"choices":[{"delta":{"content":"x"},"message":{"content":"x"}}],"type":"chunk","status":"ok","code":200}',
        b'{"object":"","choices":[{"delta":{"content":"x","content":"y"},"index":0,"index":1}],"id":"a","id":"b"}',
    ),
    "keys": (
        b'{"ch\\u006fices":[{"\\u0069ndex":3,"delta":{"c\\u006fntent":"x"},"finish_\\u0072eason":"","\\u006fbject":"o"}]}',
        b'{"choices":[{"delta":{"content":"x"}}],"err\\u006fr":"x","index":4,"finish_reason":"f","object":"o","type":"t"}',
        b'{"choices":[{"delta":{"content":"x"}}],"":"e"," ":1,"a\\"b":"c","errors":"d","\\\\":"b"}',
    ),
    "white space": (
        b'{ "choices" : [ { "index" : 0 , "delta" : { "content" : "x" } , "finish_reason" : null } ] , "n" : 1 }',
        b'{\t"choices"\t:\t[{\t"delta":{"content"  :  "x"\t}\t}],  "index" \t : \t 2 }  ',
        b'  {"choices": [{"delta": {"content": "x"}, "index": 0}], "created": 5}\t',
        b'{"choices"\n:[{"delta":{"content":"x"}}]}',
        b'{"choices":[{"delta":\n{"content":"x"}}]\n}',
    ),
    "no chunk": (
        b'{"id":"c","object":"o","n":1}',
        b'{"choices":null,"id":"c"}',
        b'{"choices":[{"delta":null,"index":null}],"id":"c"}',
        b'{"choices":[{"delta":{"content":5}}],"id":"c"}',
        b'{"error":{"message":"m","code":5},"choices":[]}',
        b'[{"choices":[{"delta":{"content":"x"}}]}]',
        b"[1]",
    ),
}
