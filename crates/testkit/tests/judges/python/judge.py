"""Plays scenarios with one official SDK and prints, a JSON line each, what the SDK saw.

The scenarios come as a JSON list on standard input, the SDK's name as the argument. Nothing is judged here.
"""

import importlib
import json
import sys


class Parts:
    """Collects the parts of an answer; pieces of the same kind in a row become one part."""

    def __init__(self):
        self.list = []

    def add(self, kind, piece, **more):
        if self.list and kind in self.list[-1] and kind != "call":
            self.list[-1][kind] += piece
        else:
            self.list.append({kind: piece})
        self.list[-1].update(more)

    def sign(self, signature):
        self.list[-1]["signature"] = signature

    def call(self, name, arguments, id):
        self.list.append({"call": name, "id": id, "arguments": arguments})


def told(headers):
    """What a gateway says of an answer beside it."""
    names = ("x-request-id", "request-id", "x-switchrail-target", "x-switchrail-losses")
    return {"headers": {name: headers.get(name) for name in names}}


def raised(error):
    """The class and its ancestors, and what the SDK says of the error."""
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", None) or {}
    return {
        "class": type(error).__name__,
        "ancestors": [kind.__name__ for kind in type(error).__mro__],
        "status": getattr(error, "status_code", None) or getattr(error, "code", None),
        "message": str(error),
        "retry_after": headers.get("retry-after"),
    }


def main():
    sdk = importlib.import_module(f"sdk_{sys.argv[1].replace('-', '_')}")
    for scenario in json.load(sys.stdin):
        line = {"name": scenario["name"]}
        try:
            line["saw"] = sdk.play(scenario)
        except Exception as error:
            line["raised"] = raised(error)
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
