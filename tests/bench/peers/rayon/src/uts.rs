// uts.rs: Unbalanced Tree Search by rayon's `join`: as ../../../fork_join/uts.hpp, children halved by joins.
// SPDX-License-Identifier: MIT
use crate::nanoseconds_per;

#[derive(PartialEq)]
enum Law {
    Geometric,
    Binomial,
    Hybrid,
}
enum Shape {
    Linear,
    Cyclic,
    Fixed,
    Unused,
}

pub struct Tree {
    pub name: &'static str,
    law: Law,
    shape: Shape,
    seed: u32,
    root_children: f64,
    depth_limit: i32,
    inner_share: f64,
    inner_children: i32,
    pub nodes: i32,
    leaves: i32,
    pub depth: i32,
}

#[rustfmt::skip]
#[allow(clippy::too_many_arguments)]
const fn tree(name: &'static str, law: Law, shape: Shape, seed: u32, root_children: f64, depth_limit: i32,
              inner_share: f64, inner_children: i32, nodes: i32, leaves: i32, depth: i32) -> Tree {
    Tree { name, law, shape, seed, root_children, depth_limit, inner_share, inner_children, nodes, leaves, depth }
}

#[rustfmt::skip]
pub static TREES: [Tree; 5] = [
    tree("uts_t1", Law::Geometric, Shape::Fixed, 19, 4.0, 10, 0.0, 0, 4_130_071, 3_305_118, 10),
    tree("uts_t2", Law::Geometric, Shape::Cyclic, 502, 6.0, 16, 0.0, 0, 4_117_769, 2_342_762, 81),
    tree("uts_t3", Law::Binomial, Shape::Unused, 42, 2000.0, 0, 0.124875, 8, 4_112_897, 3_599_034, 1572),
    tree("uts_t4", Law::Hybrid, Shape::Linear, 1, 6.0, 16, 0.234375, 4, 4_132_453, 3_108_986, 134),
    tree("uts_t5", Law::Geometric, Shape::Linear, 34, 4.0, 20, 0.0, 0, 4_147_582, 2_181_318, 20),
];

const MOST_CHILDREN: i32 = 100;
const END_MARK: u32 = 0x80000000;
const START: [u32; 5] = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];

/// Round T, for which T has to be known when compiling: the message is a ring of 16 words.
#[inline(always)]
fn step<const T: usize>(s: &mut [u32; 5], w: &mut [u32; 16]) {
    if T >= 16 {
        let x = w[(T + 13) % 16] ^ w[(T + 8) % 16] ^ w[(T + 2) % 16] ^ w[T % 16];
        w[T % 16] = x.rotate_left(1);
    }
    let [a, b, c, d, e] = *s;
    let (mixed, key) = match T / 20 {
        0 => ((b & c) | (!b & d), 0x5a827999),
        1 => (b ^ c ^ d, 0x6ed9eba1),
        2 => ((b & c) | (b & d) | (c & d), 0x8f1bbcdc),
        _ => (b ^ c ^ d, 0xca62c1d6u32),
    };
    let sum = mixed.wrapping_add(key).wrapping_add(e).wrapping_add(w[T % 16]);
    *s = [a.rotate_left(5).wrapping_add(sum), a, b.rotate_left(30), c, d];
}

macro_rules! steps {
    ($s:ident, $w:ident, $($t:literal)*) => { $(step::<$t>(&mut $s, &mut $w);)* };
}

/// SHA-1 (FIPS 180-4) of a message of one block.
fn sha1_of_block(mut w: [u32; 16]) -> [u32; 5] {
    let mut s = START;
    steps!(s, w, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19);
    steps!(s, w, 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39);
    steps!(s, w, 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59);
    steps!(s, w, 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79);
    std::array::from_fn(|i| s[i].wrapping_add(START[i]))
}

struct Node {
    random: [u32; 5],
    depth: i32,
}

fn root_of(t: &Tree) -> Node {
    let mut message = [0; 16];
    message[4] = t.seed;
    message[5] = END_MARK;
    message[15] = 20 * 8;
    Node { random: sha1_of_block(message), depth: 0 }
}

fn child_of(parent: &Node, index: i32) -> Node {
    let mut message = [0; 16];
    message[..5].copy_from_slice(&parent.random);
    message[5] = index as u32;
    message[6] = END_MARK;
    message[15] = 24 * 8;
    Node { random: sha1_of_block(message), depth: parent.depth + 1 }
}

fn chance(at: &Node) -> f64 {
    (at.random[4] & 0x7fffffff) as f64 / 2147483648.0
}

fn expected_children(t: &Tree, depth: i32) -> f64 {
    if depth == 0 {
        return t.root_children;
    }
    let (at, limit) = (depth as f64, t.depth_limit as f64);
    match t.shape {
        Shape::Linear => t.root_children * (1.0 - at / limit),
        Shape::Cyclic if depth > 5 * t.depth_limit => 0.0,
        Shape::Cyclic => t.root_children.powf((2.0 * std::f64::consts::PI * at / limit).sin()),
        Shape::Fixed if depth < t.depth_limit => t.root_children,
        Shape::Fixed | Shape::Unused => 0.0,
    }
}

fn count_children(t: &Tree, at: &Node) -> i32 {
    if t.law == Law::Binomial && at.depth == 0 {
        return t.root_children as i32;
    }
    let geometric =
        t.law == Law::Geometric || (t.law == Law::Hybrid && (at.depth as f64) < 0.5 * t.depth_limit as f64);
    let count = if geometric {
        let p = 1.0 / (1.0 + expected_children(t, at.depth));
        ((1.0 - chance(at)).ln() / (1.0 - p).ln()).floor() as i32
    } else if chance(at) < t.inner_share {
        t.inner_children
    } else {
        0
    };
    count.min(MOST_CHILDREN)
}

#[derive(Clone, Copy, Default, PartialEq, Debug)]
struct Tally {
    nodes: i32,
    leaves: i32,
    depth: i32,
}

fn sum(a: Tally, b: Tally) -> Tally {
    Tally { nodes: a.nodes + b.nodes, leaves: a.leaves + b.leaves, depth: a.depth.max(b.depth) }
}

fn walk_children(t: &Tree, parent: &Node, from: i32, to: i32) -> Tally {
    if to - from == 1 {
        return walk(t, &child_of(parent, from));
    }
    let middle = from + (to - from) / 2;
    let (a, b) =
        rayon::join(|| walk_children(t, parent, from, middle), || walk_children(t, parent, middle, to));
    sum(a, b)
}

fn walk(t: &Tree, at: &Node) -> Tally {
    let count = count_children(t, at);
    if count == 0 {
        return Tally { nodes: 1, leaves: 1, depth: at.depth };
    }
    sum(Tally { nodes: 1, leaves: 0, depth: at.depth }, walk_children(t, at, 0, count))
}

pub fn sample(t: &'static Tree) -> f64 {
    let root = root_of(t);
    walk(t, &child_of(&root, 0));
    let mut got = Tally::default();
    let taken = nanoseconds_per(t.nodes as f64, || got = walk(t, &root));
    assert_eq!(got, Tally { nodes: t.nodes, leaves: t.leaves, depth: t.depth });
    taken
}
