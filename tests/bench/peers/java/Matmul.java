// Matmul.java: matmul 1024 as in ../../fork_join/matmul.hpp: invokeAll of four quadrants, twice.
// SPDX-License-Identifier: MIT
import java.util.List;
import java.util.concurrent.RecursiveTask;

final class Matmul extends RecursiveTask<Boolean> {
    static final int N = 1024, SMALLEST = 32;
    static final Boolean EXPECTED = true;
    final double[] a, b, c;
    final int atA, atB, atC, size;
    final boolean isRoot;

    private Matmul(double[] a, int atA, double[] b, int atB, double[] c, int atC, int size, boolean isRoot) {
        this.a = a; this.atA = atA;
        this.b = b; this.atB = atB;
        this.c = c; this.atC = atC;
        this.size = size;
        this.isRoot = isRoot;
    }

    private static final double[] A = new double[N * N], B = new double[N * N], C = new double[N * N];

    static Matmul root() {
        for (int i = 0; i < N * N; i++) {
            A[i] = i % 7;
            B[i] = i % 5;
            C[i] = 0;
        }
        return new Matmul(A, 0, B, 0, C, 0, N, true);
    }

    private Matmul part(int row, int column, int inner) {
        int half = size / 2;
        return new Matmul(a, atA + (row * N + inner) * half, b, atB + (inner * N + column) * half, c,
                          atC + (row * N + column) * half, half, false);
    }

    /** Math.fma, because the C++ compilers contract the expression by default. */
    private void multiplySmallest() {
        double[] copy = new double[SMALLEST * SMALLEST], row = new double[SMALLEST];
        for (int k = 0; k < SMALLEST; k++) System.arraycopy(b, atB + k * N, copy, k * SMALLEST, SMALLEST);
        for (int i = 0; i < SMALLEST; i++) {
            System.arraycopy(c, atC + i * N, row, 0, SMALLEST);
            for (int k = 0; k < SMALLEST; k++) {
                double factor = a[atA + i * N + k];
                for (int j = 0; j < SMALLEST; j++) row[j] = Math.fma(factor, copy[k * SMALLEST + j], row[j]);
            }
            System.arraycopy(row, 0, c, atC + i * N, SMALLEST);
        }
    }

    @Override protected Boolean compute() {
        if (size == SMALLEST) {
            multiplySmallest();
            return true;
        }
        for (int inner = 0; inner < 2; inner++) {
            invokeAll(List.of(part(0, 0, inner), part(0, 1, inner), part(1, 0, inner), part(1, 1, inner)));
        }
        return !isRoot || isRight();
    }

    private boolean isRight() {
        for (int row : new int[] {0, 511, 1023}) {
            for (int column : new int[] {0, 512, 1023}) {
                double expected = 0;
                for (int k = 0; k < N; k++) expected += a[row * N + k] * b[k * N + column];
                if (c[row * N + column] != expected) return false;
            }
        }
        return true;
    }
}
