"""Asks the served model every question of a folder of cassettes: record.py FOLDER OUT URL [ID...]"""

import sys
from pathlib import Path

import cassette


def main():
    folder, out, url, ids = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4:]
    questions = cassette.load(folder, ids)
    out.mkdir(parents=True, exist_ok=True)
    unread = 0
    for number, question in enumerate(questions, 1):
        old = (question.get("whole"), question.get("stream"))
        question["whole"], question["stream"] = cassette.ask(url, question)
        state = "as before"
        if old != (question["whole"], question["stream"]):
            # An expectation belongs to the answer it was written for.
            for key in cassette.EXPECTATIONS:
                question.pop(key, None)
            state = "NEW ANSWER: read it and write `expect`"
            unread += 1
        cassette.save(out, question)
        print(f"{number}/{len(questions)} {question['id']}: {state}", flush=True)
    print(f"{len(questions)} recorded in {out}, {unread} to be read")


cassette.run(main)
