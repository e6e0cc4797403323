#!/usr/bin/env python3
# replay_job.py: replays every path of main_job.json with replay.py.
# SPDX-License-Identifier: MIT
"""replay_job.py MAIN_JOB_JSON: one line per row; exits with 1 if a path is wrong."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

REPLAY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "replay.py")


def arguments_for(request, folder):
    if request["puzzle"] == "sliding":
        boards = [request[key] for key in ("start", "goal") if key in request]
        boards = [b if isinstance(b, str) else " ".join(map(str, b)) for b in boards]
        return ["sliding", str(request["rows"]), str(request["cols"]), *boards]
    if request["puzzle"] == "queens":
        return ["queens", str(request["n"])]
    if request["puzzle"] == "sudoku":
        return ["sudoku", request["grid"], "--box", request.get("box", "3x3")]
    metric = ["--metric", request["metric"]] if "metric" in request else []
    if request["puzzle"] == "rush-hour":
        return ["rush-hour", request["board"], *metric]
    if "board" not in request:
        return ["klotski", *metric]
    board = os.path.join(folder, "board.txt")
    with open(board, "w", encoding="ascii") as file:
        file.write(request["board"])
    return ["klotski", board, *metric]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("job")
    with open(parser.parse_args().job, encoding="utf-8") as file:
        rows = json.load(file)
    replayed = unsolved = 0
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            if row["request"].get("count") or row["request"]["puzzle"] == "uts":
                continue  # a number, no path
            played = subprocess.run([sys.executable, REPLAY, *arguments_for(row["request"], folder)],
                                    input=json.dumps(row), capture_output=True, text=True, check=False)
            if played.returncode != 0:
                sys.exit(f"{row['name']} ({row['solver']}): {played.stdout}{played.stderr}")
            replayed += row["solved"]
            unsolved += not row["solved"]
    print(f"{replayed} paths replayed, all valid; {unsolved} boards without a solution")


if __name__ == "__main__":
    main()
