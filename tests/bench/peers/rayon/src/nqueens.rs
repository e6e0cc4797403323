// nqueens.rs: nqueens 13 by rayon's `scope`: as ../../../fork_join/nqueens.hpp, a spawn for each safe placement.
// SPDX-License-Identifier: MIT
use crate::nanoseconds_per;

const N: usize = 13;
type Board = [i8; N];

fn is_safe(queens: &Board, rows: usize) -> bool {
    let last = rows - 1;
    let column = queens[last] as i32;
    let mut safe = true;
    for (row, &other) in queens[..last].iter().enumerate() {
        let other = other as i32;
        let distance = (last - row) as i32;
        safe &= other != column && other != column - distance && other != column + distance;
    }
    safe
}

fn queens(row: usize, mut board: Board) -> i32 {
    if row == N {
        return 1;
    }
    let mut ways = [0; N];
    rayon::scope(|scope| {
        for (column, found) in ways.iter_mut().enumerate() {
            board[row] = column as i8;
            if is_safe(&board, row + 1) {
                scope.spawn(move |_| *found = queens(row + 1, board));
            }
        }
    });
    ways.iter().sum()
}

pub fn sample() -> f64 {
    let mut corner = [0; N];
    corner[1] = 2;
    corner[2] = 4;
    queens(3, corner);
    let mut got = 0;
    let taken = nanoseconds_per(4_674_890.0, || got = queens(0, [0; N]));
    assert_eq!(got, 73_712);
    taken
}
