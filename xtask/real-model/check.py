"""Asks every question again and compares what the decoder finds with what people see:
check.py FOLDER URL CASES [ID...] -- COMMAND...

COMMAND reads the cases from a file (`--cases CASES` is added) and prints one JSON line a case."""

import json
import subprocess
import sys
from pathlib import Path

import cassette


def main():
    split = sys.argv.index("--")
    folder, url, cases, *ids = sys.argv[1:split]
    command = [*sys.argv[split + 1 :], "--cases", cases]
    questions, cases = cassette.load(Path(folder), ids), Path(cases)
    # Better to hear now that the decoder does not run than after all the questions.
    decode(command, cases, [])
    asked = []
    for number, question in enumerate(questions, 1):
        print(f"{number}/{len(questions)} {question['id']}", file=sys.stderr, flush=True)
        whole, stream = cassette.ask(url, question)
        asked.append((question, "whole", whole, cassette.whole_chunks(whole), whole == question.get("whole")))
        asked.append((question, "stream", stream, cassette.stream_chunks(stream), stream == question.get("stream")))
    found = decode(command, cases, [case(*answer) for answer in asked])
    report([row(answer, found) for answer in asked])


def case(question, how, answer, chunks, _same):
    tools = question.get("tools") or [
        {"name": tool["function"]["name"], "parameters": tool["function"]["parameters"]}
        for tool in question["request"].get("tools", [])
    ]
    options = {"finish_reason": cassette.finish_reason(answer), "prompted": question.get("prompted", False)}
    return {"id": f"{question['id']}/{how}", "kind": "openai_stream", "chunks": chunks, "tools": tools, "options": options}


def decode(command, path, cases):
    path.write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        raise cassette.Problem(f"`{' '.join(command)}` ended with {done.returncode}; the cases are in {path}")
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.strip()]
    return {line["id"]: line for line in lines}


def row(answer, found):
    question, how, _, _, same = answer
    name = f"{question['id']}/{how}"
    expect = question.get("expect") or question.get(f"expect_{how}") or {}
    wanted = [key(call["name"], call["arguments"]) for call in expect.get("calls", [])]
    wanted += [key(name, "incomplete") for name in expect.get("incomplete", [])]
    line = found.get(name)
    if line is None:
        return name, same, wanted, [], wanted, ["(no answer from the decoder)"]
    made = [key(call["name"], call["arguments"]) for call in line["calls"]]
    made += [key(name, "incomplete") for name in line.get("incomplete", [])]
    missed, invented = without(wanted, made), without(made, wanted)
    content = spaced(line.get("content") or "")
    missed += [f"text {text!r}" for text in expect.get("content_contains", []) if same and spaced(text) not in content]
    return name, same, wanted, made, missed, invented


def key(name, arguments):
    return f"{name} {json.dumps(plain(arguments), sort_keys=True, ensure_ascii=False)}"


def plain(value):
    """The same numbers look the same: 1.0 is 1."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def spaced(text):
    """Markup that was taken out may leave other white space behind."""
    return " ".join(text.split())


def without(some, others):
    rest = list(others)
    return [item for item in some if not (item in rest and not rest.remove(item))]


def report(rows):
    width = max(len(row[0]) for row in rows)
    print(f"{'answer':{width}}  same  seen  found  missed  invented")
    totals = {True: [0] * 5, False: [0] * 5}
    for name, same, wanted, made, missed, invented in rows:
        counts = (len(wanted), len(made) - len(invented), len(missed), len(invented))
        print(f"{name:{width}}  {'yes' if same else 'no':4}  {counts[0]:4}  {counts[1]:5}  {counts[2]:6}  {counts[3]:8}")
        for word, calls in (("missed", missed), ("invented", invented)):
            for call in calls:
                print(f"{'':{width}}    {word}: {call}")
        totals[same] = [total + count for total, count in zip(totals[same], (1, *counts))]
    for same, text in ((True, "answered as recorded"), (False, "answered otherwise (read these by hand)")):
        answers, seen, found, missed, invented = totals[same]
        print(f"{answers} {text}: {seen} calls seen by people, {found} found, {missed} missed, {invented} invented")
    if totals[True][3] or totals[True][4]:
        sys.exit(1)


cassette.run(main)
