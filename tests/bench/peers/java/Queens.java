// Queens.java: nqueens 13 as in ../../fork_join/nqueens.hpp: a RecursiveTask for each safe placement.
// SPDX-License-Identifier: MIT
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RecursiveTask;

final class Queens extends RecursiveTask<Integer> {
    static final int N = 13;
    final int row;
    final byte[] board;

    Queens(int row, byte[] board) { this.row = row; this.board = board; }

    static boolean isSafe(byte[] queens, int rows) {
        int last = rows - 1;
        int column = queens[last];
        boolean safe = true;
        for (int row = 0; row < last; row++) {
            int other = queens[row];
            int distance = last - row;
            safe &= other != column & other != column - distance & other != column + distance;
        }
        return safe;
    }

    @Override protected Integer compute() {
        if (row == N) return 1;
        List<Queens> children = new ArrayList<>(N);
        for (int column = 0; column < N; column++) {
            board[row] = (byte) column;
            if (isSafe(board, row + 1)) children.add(new Queens(row + 1, board.clone()));
        }
        int ways = 0;
        for (Queens child : invokeAll(children)) ways += child.join();
        return ways;
    }
}
