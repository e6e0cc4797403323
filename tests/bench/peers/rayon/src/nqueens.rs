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

/// With the number of rows above known to the compiler, as in nqueens.hpp.
fn safe_squares_of<const ROW: usize>(mut board: Board) -> (Board, usize) {
    let mut columns = [0; N];
    let mut count = 0;
    for column in 0..N {
        board[ROW] = column as i8;
        columns[count] = column as i8;
        count += is_safe(&board, ROW + 1) as usize;
    }
    (columns, count)
}

const OF_ROW: [fn(Board) -> (Board, usize); N] = [
    safe_squares_of::<0>,
    safe_squares_of::<1>,
    safe_squares_of::<2>,
    safe_squares_of::<3>,
    safe_squares_of::<4>,
    safe_squares_of::<5>,
    safe_squares_of::<6>,
    safe_squares_of::<7>,
    safe_squares_of::<8>,
    safe_squares_of::<9>,
    safe_squares_of::<10>,
    safe_squares_of::<11>,
    safe_squares_of::<12>,
];

fn queens(row: usize, mut board: Board) -> i32 {
    if row == N {
        return 1;
    }
    let (columns, count) = OF_ROW[row](board);
    let mut ways = [0; N];
    rayon::scope(|scope| {
        for (found, &column) in ways.iter_mut().zip(&columns[..count]) {
            board[row] = column;
            scope.spawn(move |_| *found = queens(row + 1, board));
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
