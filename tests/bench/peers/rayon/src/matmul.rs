// matmul.rs: matmul 1024 by rayon's `join`: as ../../../fork_join/matmul.hpp, four quadrants by joins of joins.
// SPDX-License-Identifier: MIT
use crate::nanoseconds_per;

const N: usize = 1024;
const SMALLEST: usize = 32;

/// Quadrants of one matrix that is not split into slices: tasks write to disjoint parts of c.
#[derive(Clone, Copy)]
struct Product {
    a: *const f64,
    b: *const f64,
    c: *mut f64,
    size: usize,
}
unsafe impl Send for Product {}
unsafe impl Sync for Product {}

impl Product {
    fn part(&self, row: usize, column: usize, inner: usize) -> Product {
        let half = self.size / 2;
        unsafe {
            Product {
                a: self.a.add((row * N + inner) * half),
                b: self.b.add((inner * N + column) * half),
                c: self.c.add((row * N + column) * half),
                size: half,
            }
        }
    }
}

/// mul_add, because the C++ compilers contract the expression by default.
#[inline(never)]
unsafe fn multiply_smallest(a: *const f64, b: *const f64, c: *mut f64) {
    let mut copy = [[0.0; SMALLEST]; SMALLEST];
    for (k, line) in copy.iter_mut().enumerate() {
        line.copy_from_slice(std::slice::from_raw_parts(b.add(k * N), SMALLEST));
    }
    for i in 0..SMALLEST {
        let factors = std::slice::from_raw_parts(a.add(i * N), SMALLEST);
        let result = std::slice::from_raw_parts_mut(c.add(i * N), SMALLEST);
        let mut row = [0.0; SMALLEST];
        row.copy_from_slice(result);
        for (line, &factor) in copy.iter().zip(factors) {
            for j in 0..SMALLEST {
                row[j] = factor.mul_add(line[j], row[j]);
            }
        }
        result.copy_from_slice(&row);
    }
}

fn multiply(p: Product) {
    if p.size == SMALLEST {
        return unsafe { multiply_smallest(p.a, p.b, p.c) };
    }
    for inner in 0..2 {
        rayon::join(
            || rayon::join(|| multiply(p.part(0, 0, inner)), || multiply(p.part(0, 1, inner))),
            || rayon::join(|| multiply(p.part(1, 0, inner)), || multiply(p.part(1, 1, inner))),
        );
    }
}

pub fn sample() -> f64 {
    let a: Vec<f64> = (0..N * N).map(|i| (i % 7) as f64).collect();
    let b: Vec<f64> = (0..N * N).map(|i| (i % 5) as f64).collect();
    let mut c = vec![0.0; N * N];
    let all = Product { a: a.as_ptr(), b: b.as_ptr(), c: c.as_mut_ptr(), size: N };
    multiply(all);
    c.fill(0.0);
    let all = Product { c: c.as_mut_ptr(), ..all };
    let taken = nanoseconds_per(2.0 * (N * N * N) as f64, || multiply(all));
    for row in [0, 511, 1023] {
        for column in [0, 512, 1023] {
            let expected: f64 = (0..N).map(|k| a[row * N + k] * b[k * N + column]).sum();
            assert_eq!(c[row * N + column], expected);
        }
    }
    1.0 / taken
}
