#!/usr/bin/env python3
# replay.py: checks the path of a JSON answer by playing it, sharing no code with the solvers.
# SPDX-License-Identifier: MIT
"""Reads the JSON answer of `puzzle` (or of POST /solve) from stdin or a file and plays its path.

    replay.py sliding ROWS COLS "START" ["GOAL"]   < answer.json
    replay.py klotski [FILE] [--metric M]          < answer.json
    replay.py rush-hour BOARD [--metric M]         < answer.json
    replay.py queens N                             < answer.json
    replay.py sudoku GRID [--box RxC]              < answer.json

Options: --answer FILE instead of stdin; --moves N: the path has to have N moves; --metric steps or
moves: what one element of the path may be (klotski: steps, rush-hour: moves unless said otherwise).
Prints `ok: N moves` (or `ok: unsolved`) and exits 0; exits 1 with the reason if the path is wrong.
An answer that is a number (counts, uts) has no path: it is refused.
"""
import argparse
import json
import re
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


class Pieces:
    """Pieces on a grid, which move by unit steps through empty cells."""

    def __init__(self, rows, empty, walls=""):
        self.rows, self.cols = len(rows), len(rows[0])
        self.cells = {}
        self.taken = {}
        for r, row in enumerate(rows):
            for c, letter in enumerate(row):
                if letter in empty:
                    continue
                self.taken[r, c] = letter
                if letter not in walls:
                    self.cells.setdefault(letter, set()).add((r, c))

    def play(self, number, move, metric):
        letter, *ways = move.split(" ")
        if letter not in self.cells or not ways or any(way not in STEPS for way in ways):
            raise Wrong(f"move {number}: '{move}' names no piece and directions")
        if metric == "steps" and len(ways) != 1:
            raise Wrong(f"move {number}: '{move}' is more than one step")
        before = self.cells[letter]
        for way in ways:
            self.step(number, letter, way)
        if self.cells[letter] == before:
            raise Wrong(f"move {number}: '{move}' ends where it began")
        return letter, ways

    def step(self, number, letter, way):
        dr, dc = STEPS[way]
        moved = {(r + dr, c + dc) for r, c in self.cells[letter]}
        for r, c in moved:
            if not (0 <= r < self.rows and 0 <= c < self.cols):
                raise Wrong(f"move {number}: '{letter} {way}' leaves the board")
            if self.taken.get((r, c), letter) != letter:
                raise Wrong(f"move {number}: '{letter} {way}' runs into {self.taken[r, c]}")
        for cell in self.cells[letter]:
            del self.taken[cell]
        self.taken.update({cell: letter for cell in moved})
        self.cells[letter] = moved


def play_klotski(rows, path, metric):
    pieces = Pieces(rows, ".")
    for number, move in enumerate(path, 1):
        pieces.play(number, move, metric)
    block = next(cells for cells in pieces.cells.values() if len(cells) == 4)
    if block != {(3, 1), (3, 2), (4, 1), (4, 2)}:
        raise Wrong(f"the block ends at {sorted(block)}")


def play_rush_hour(rows, path, metric):
    pieces = Pieces(rows, "o.", walls="x")
    lying = {letter: len({r for r, _ in cells}) == 1 for letter, cells in pieces.cells.items()}
    for number, move in enumerate(path, 1):
        letter, ways = pieces.play(number, move, metric)
        if len(set(ways)) != 1 or (ways[0] in ("left", "right")) != lying[letter]:
            raise Wrong(f"move {number}: '{move}' is no slide along the car's line")
    red = pieces.cells["A"]
    if not {(2, 4), (2, 5)} <= red:
        raise Wrong(f"the red car ends at {sorted(red)}")


def play_sudoku(grid, box, path):
    digits = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    box_rows, box_cols = (int(number) for number in box.split("x"))
    side = box_rows * box_cols
    filled = {divmod(i, side): c.upper() for i, c in enumerate(grid) if c not in ".0"}
    for number, move in enumerate(path, 1):
        found = re.fullmatch(r"r(\d+)c(\d+)=(.)", move)
        if not found:
            raise Wrong(f"move {number}: '{move}' names no cell and digit")
        cell = (int(found[1]) - 1, int(found[2]) - 1)
        if not (0 <= cell[0] < side and 0 <= cell[1] < side):
            raise Wrong(f"move {number}: there is no cell '{move}'")
        if cell in filled:
            raise Wrong(f"move {number}: the cell of '{move}' is filled already")
        filled[cell] = found[3]
    everything = set(digits[:side])
    for name, key in [("row", lambda r, c: r), ("column", lambda r, c: c),
                      ("box", lambda r, c: (r // box_rows, c // box_cols))]:
        units = {}
        for (r, c), digit in filled.items():
            units.setdefault(key(r, c), []).append(digit)
        if len(units) != side or any(len(u) != side or set(u) != everything for u in units.values()):
            raise Wrong(f"at the end a {name} does not hold every digit once")


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
    if answer["solved"] and answer["moves"] is None:
        raise Wrong("a count, no path")
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
        play_klotski(rows, path, args.metric or "steps")
    elif args.puzzle == "rush-hour":
        cells = "".join(args.board.replace("/", "\n").split())
        play_rush_hour([cells[i:i + 6] for i in range(0, 36, 6)], path, args.metric or "moves")
    elif args.puzzle == "sudoku":
        play_sudoku(args.grid, args.box, path)
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
    klotski = kinds.add_parser("klotski")
    klotski.add_argument("board", nargs="?")
    rush_hour = kinds.add_parser("rush-hour")
    rush_hour.add_argument("board")
    for with_metric in (klotski, rush_hour):
        with_metric.add_argument("--metric", choices=["steps", "moves"])
    sudoku = kinds.add_parser("sudoku")
    sudoku.add_argument("grid")
    sudoku.add_argument("--box", default="3x3")
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
