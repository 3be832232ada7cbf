"""What recording and checking share: cassettes as files, and the model behind its URL."""

import json
import sys
import urllib.error
import urllib.request

EXPECTATIONS = ("expect", "expect_whole", "expect_stream")
ORDER = ("id", "about", "note", "request", "tools", "prompted", *EXPECTATIONS, "whole", "stream")


class Problem(Exception):
    """What the user must be told."""


def run(main):
    """Runs `main`; a problem is one line on stderr, not a trace."""
    try:
        main()
    except Problem as problem:
        sys.exit(f"real-model: {problem}")
    except KeyboardInterrupt:
        sys.exit(130)


def load(folder, ids):
    """The cassettes of a folder by name, or those with the given ids."""
    paths = sorted(folder.glob("*.json"))
    if ids:
        missing = set(ids) - {path.stem for path in paths}
        if missing:
            raise Problem(f"{folder} has no question {', '.join(sorted(missing))}")
        paths = [path for path in paths if path.stem in ids]
    if not paths:
        raise Problem(f"{folder} holds no questions; a question is a file ID.json with `id`, `about` and `request`")
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def save(folder, cassette):
    """Writes one cassette: what people read is indented, and an answer has one line, or one for each piece."""
    parts = []
    for key in ORDER:
        if key not in cassette:
            continue
        value = cassette[key]
        if key == "stream":
            pieces = ",\n".join("  " + compact(piece) for piece in value)
            text = f"[\n{pieces}\n ]"
        elif key == "request" or key in EXPECTATIONS:
            text = rows(value)
        else:
            text = compact(value)
        parts.append(f" {compact(key)}: {text}")
    path = folder / f"{cassette['id']}.json"
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def rows(fields):
    """An object with a line for each field, and one for each item of a list of objects."""
    lines = []
    for key, value in fields.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            items = ",\n".join("   " + compact(item) for item in value)
            lines.append(f"  {compact(key)}: [\n{items}\n  ]")
        else:
            lines.append(f"  {compact(key)}: {compact(value)}")
    return "{\n" + ",\n".join(lines) + "\n }"


def compact(value):
    return json.dumps(value, ensure_ascii=False)


def ask(url, cassette):
    """The answer as a whole and as a stream."""
    name, request = cassette["id"], cassette["request"]
    # What the server still holds of the question before changes the last bits of an answer, and then its words: both
    # answers start from the prompt as this one request reads it.
    with post(url, {**request, "max_tokens": 1, "cache_prompt": False}) as answer:
        answer.read()
    with post(url, request) as answer:
        whole = steady(json.load(answer), name, {})
    ids, pieces = {}, []
    with post(url, {**request, "stream": True}) as answer:
        for line in answer:
            line = line.decode("utf-8").strip()
            if line.startswith("data: ") and line != "data: [DONE]":
                pieces.append(steady(json.loads(line.removeprefix("data: ")), name, ids))
    return whole, pieces


def post(url, body):
    request = urllib.request.Request(
        f"{url}/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    try:
        return urllib.request.urlopen(request, timeout=600)
    except urllib.error.HTTPError as error:
        raise Problem(f"{url} answered {error.code}: {error.read().decode('utf-8', 'replace')}") from error
    except OSError as error:
        raise Problem(f"nothing answers at {url} ({error}); start `cargo xtask real-model serve` first") from error


def steady(answer, name, ids):
    """Takes out what differs from run to run: clock, timings, random ids. The same id stays the same."""
    answer.pop("timings", None)
    answer["created"] = 0
    answer["id"] = f"chatcmpl-{name}"
    details = answer.get("usage", {}).get("prompt_tokens_details")
    if details is not None:
        details["cached_tokens"] = 0
    for choice in answer.get("choices", []):
        said = choice.get("message") or choice.get("delta") or {}
        for call in said.get("tool_calls") or []:
            if call.get("id"):
                call["id"] = ids.setdefault(call["id"], f"call-{len(ids) + 1}")
    return answer


def whole_chunks(whole):
    """A whole answer as the one delta it would be in a stream."""
    delta = dict(whole["choices"][0]["message"])
    calls = delta.get("tool_calls")
    if calls:
        delta["tool_calls"] = [{"index": index, **call} for index, call in enumerate(calls)]
    return [delta]


def stream_chunks(stream):
    return [piece["choices"][0]["delta"] for piece in stream if piece.get("choices")]


def finish_reason(answer):
    pieces = answer if isinstance(answer, list) else [answer]
    choices = [piece["choices"][0] for piece in pieces if piece.get("choices")]
    reasons = [choice["finish_reason"] for choice in choices if choice.get("finish_reason")]
    return reasons[-1] if reasons else None
