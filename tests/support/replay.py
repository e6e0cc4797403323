#!/usr/bin/env python3
# replay.py: checks the path of a JSON answer by playing it, sharing no code with the solvers.
# SPDX-License-Identifier: MIT
"""Reads the JSON answer of `puzzle` (or of POST /solve) from stdin or a file and plays its path.

    replay.py sliding ROWS COLS "START" ["GOAL"]   < answer.json
    replay.py klotski [FILE]                       < answer.json
    replay.py queens N                             < answer.json

Options: --answer FILE instead of stdin; --moves N: the path has to have N moves.
Prints `ok: N moves` (or `ok: unsolved`) and exits 0; exits 1 with the reason if the path is wrong.
"""
import argparse
import json
import sys

HENG_DAO_LI_MA = ["ABBC", "ABBC", "DEEF", "DGHF", "I..J"]
STEPS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


class Wrong(Exception):
    """The path does not solve the puzzle."""


def play_sliding(rows, cols, start, goal, path):
    board = [start[r * cols:(r + 1) * cols] for r in range(rows)]
    where = {tile: (r, c) for r, row in enumerate(board) for c, tile in enumerate(row)}
    for number, tile in enumerate(path, 1):
        if tile == 0 or tile not in where:
            raise Wrong(f"move {number}: there is no tile {tile}")
        (r, c), (br, bc) = where[tile], where[0]
        if abs(r - br) + abs(c - bc) != 1:
            raise Wrong(f"move {number}: tile {tile} is not beside the blank")
        where[tile], where[0] = (br, bc), (r, c)
    for tile, (r, c) in where.items():
        if goal[r * cols + c] != tile:
            raise Wrong(f"at the end tile {tile} is in row {r + 1}, column {c + 1}")


def play_klotski(rows, path):
    pieces = {}
    for r, row in enumerate(rows):
        for c, letter in enumerate(row):
            if letter != ".":
                pieces.setdefault(letter, set()).add((r, c))
    taken = {cell: letter for letter, cells in pieces.items() for cell in cells}
    for number, step in enumerate(path, 1):
        letter, _, way = step.partition(" ")
        if letter not in pieces or way not in STEPS:
            raise Wrong(f"move {number}: '{step}' names no piece and direction")
        dr, dc = STEPS[way]
        moved = {(r + dr, c + dc) for r, c in pieces[letter]}
        for cell in moved:
            if not (0 <= cell[0] < len(rows) and 0 <= cell[1] < len(rows[0])):
                raise Wrong(f"move {number}: '{step}' leaves the board")
            if taken.get(cell, letter) != letter:
                raise Wrong(f"move {number}: '{step}' runs into piece {taken[cell]}")
        for cell in pieces[letter]:
            del taken[cell]
        taken.update({cell: letter for cell in moved})
        pieces[letter] = moved
    block = next(cells for cells in pieces.values() if len(cells) == 4)
    if block != {(3, 1), (3, 2), (4, 1), (4, 2)}:
        raise Wrong(f"the block ends at {sorted(block)}")


def play_queens(n, columns):
    if len(columns) != n:
        raise Wrong(f"{len(columns)} queens on a board of {n}")
    for row, column in enumerate(columns):
        if not 0 <= column < n:
            raise Wrong(f"row {row}: there is no column {column}")
        for other in range(row):
            distance = abs(columns[other] - column)
            if distance == 0 or distance == row - other:
                raise Wrong(f"the queens of rows {other} and {row} attack each other")


def check(answer, args):
    if answer["puzzle"] != args.puzzle:
        raise Wrong(f"an answer to {answer['puzzle']}")
    path = answer["path"]
    if not answer["solved"]:
        if path or answer["moves"] is not None:
            raise Wrong("unsolved, and yet it has a path or a number of moves")
        return "ok: unsolved"
    if answer["moves"] != len(path):
        raise Wrong(f"moves is {answer['moves']}, the path has {len(path)}")
    if args.moves is not None and len(path) != args.moves:
        raise Wrong(f"{len(path)} moves, expected {args.moves}")
    if args.puzzle == "sliding":
        start = [int(word) for word in args.start.replace(",", " ").split()]
        goal = list(range(1, args.rows * args.cols)) + [0]
        if args.goal:
            goal = [int(word) for word in args.goal.replace(",", " ").split()]
        play_sliding(args.rows, args.cols, start, goal, path)
    elif args.puzzle == "klotski":
        rows = HENG_DAO_LI_MA
        if args.board:
            with open(args.board, encoding="ascii") as file:
                rows = file.read().replace("/", "\n").split()
        play_klotski(rows, path)
    else:
        play_queens(args.n, path)
    return f"ok: {len(path)} moves"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--answer", help="file with the answer; default: stdin")
    parser.add_argument("--moves", type=int, help="the path has to have so many moves")
    kinds = parser.add_subparsers(dest="puzzle", required=True)
    sliding = kinds.add_parser("sliding")
    sliding.add_argument("rows", type=int)
    sliding.add_argument("cols", type=int)
    sliding.add_argument("start")
    sliding.add_argument("goal", nargs="?")
    kinds.add_parser("klotski").add_argument("board", nargs="?")
    kinds.add_parser("queens").add_argument("n", type=int)
    args = parser.parse_args()
    try:
        if args.answer:
            with open(args.answer, encoding="utf-8") as file:
                answer = json.load(file)
        else:
            answer = json.load(sys.stdin)
        print(check(answer, args))
    except (Wrong, KeyError, ValueError, TypeError) as error:
        print(f"wrong: {error!r}" if isinstance(error, KeyError) else f"wrong: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
