// Uts.java: Unbalanced Tree Search as in ../../fork_join/uts.hpp: a RecursiveTask for each node.
// SPDX-License-Identifier: MIT
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RecursiveTask;

final class Uts extends RecursiveTask<Uts.Tally> {
    enum Law { GEOMETRIC, BINOMIAL, HYBRID }
    enum Shape { LINEAR, CYCLIC, FIXED, UNUSED }

    record Tally(int nodes, int leaves, int depth) {
        Tally plus(Tally other) {
            return new Tally(nodes + other.nodes, leaves + other.leaves, Math.max(depth, other.depth));
        }
    }
    record Tree(String name, Law law, Shape shape, int seed, double rootChildren, int depthLimit, double innerShare,
                int innerChildren, Tally found) {}
    record Node(int a, int b, int c, int d, int e, int depth) {}

    static final List<Tree> TREES = List.of(
        new Tree("uts_t1", Law.GEOMETRIC, Shape.FIXED, 19, 4, 10, 0, 0, new Tally(4_130_071, 3_305_118, 10)),
        new Tree("uts_t2", Law.GEOMETRIC, Shape.CYCLIC, 502, 6, 16, 0, 0, new Tally(4_117_769, 2_342_762, 81)),
        new Tree("uts_t3", Law.BINOMIAL, Shape.UNUSED, 42, 2000, 0, 0.124875, 8, new Tally(4_112_897, 3_599_034, 1572)),
        new Tree("uts_t4", Law.HYBRID, Shape.LINEAR, 1, 6, 16, 0.234375, 4, new Tally(4_132_453, 3_108_986, 134)),
        new Tree("uts_t5", Law.GEOMETRIC, Shape.LINEAR, 34, 4, 20, 0, 0, new Tally(4_147_582, 2_181_318, 20)));

    static final int MOST_CHILDREN = 100, END_MARK = 0x80000000;

    /** SHA-1 (FIPS 180-4) of a message of one block, with room for its 80 words. */
    private static Node sha1OfBlock(int[] w, int depth) {
        for (int t = 16; t < 80; t++) w[t] = Integer.rotateLeft(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
        int a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476, e = 0xc3d2e1f0;
        for (int t = 0; t < 20; t++) {
            int next = Integer.rotateLeft(a, 5) + ((b & c) | (~b & d)) + 0x5a827999 + e + w[t];
            e = d; d = c; c = Integer.rotateLeft(b, 30); b = a; a = next;
        }
        for (int t = 20; t < 40; t++) {
            int next = Integer.rotateLeft(a, 5) + (b ^ c ^ d) + 0x6ed9eba1 + e + w[t];
            e = d; d = c; c = Integer.rotateLeft(b, 30); b = a; a = next;
        }
        for (int t = 40; t < 60; t++) {
            int next = Integer.rotateLeft(a, 5) + ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc + e + w[t];
            e = d; d = c; c = Integer.rotateLeft(b, 30); b = a; a = next;
        }
        for (int t = 60; t < 80; t++) {
            int next = Integer.rotateLeft(a, 5) + (b ^ c ^ d) + 0xca62c1d6 + e + w[t];
            e = d; d = c; c = Integer.rotateLeft(b, 30); b = a; a = next;
        }
        return new Node(a + 0x67452301, b + 0xefcdab89, c + 0x98badcfe, d + 0x10325476, e + 0xc3d2e1f0, depth);
    }

    static Node rootOf(Tree t) {
        int[] message = new int[80];
        message[4] = t.seed;
        message[5] = END_MARK;
        message[15] = 20 * 8;
        return sha1OfBlock(message, 0);
    }

    private static Node childOf(Node p, int index) {
        int[] message = new int[80];
        message[0] = p.a;
        message[1] = p.b;
        message[2] = p.c;
        message[3] = p.d;
        message[4] = p.e;
        message[5] = index;
        message[6] = END_MARK;
        message[15] = 24 * 8;
        return sha1OfBlock(message, p.depth + 1);
    }

    private static double chance(Node at) { return (at.e & 0x7fffffff) / 2147483648.0; }

    private static double expectedChildren(Tree t, int depth) {
        if (depth == 0) return t.rootChildren;
        return switch (t.shape) {
            case LINEAR -> t.rootChildren * (1.0 - (double) depth / t.depthLimit);
            case CYCLIC -> depth > 5 * t.depthLimit ? 0
                : Math.pow(t.rootChildren, Math.sin(2 * Math.PI * depth / t.depthLimit));
            case FIXED -> depth < t.depthLimit ? t.rootChildren : 0;
            case UNUSED -> 0;
        };
    }

    private static int countChildren(Tree t, Node at) {
        if (t.law == Law.BINOMIAL && at.depth == 0) return (int) t.rootChildren;
        int count;
        if (t.law == Law.GEOMETRIC || (t.law == Law.HYBRID && at.depth < 0.5 * t.depthLimit)) {
            double p = 1 / (1 + expectedChildren(t, at.depth));
            count = (int) Math.floor(Math.log(1 - chance(at)) / Math.log(1 - p));
        } else {
            count = chance(at) < t.innerShare ? t.innerChildren : 0;
        }
        return Math.min(count, MOST_CHILDREN);
    }

    final Tree tree;
    final Node at;

    Uts(Tree tree, Node at) { this.tree = tree; this.at = at; }

    @Override protected Tally compute() {
        int count = countChildren(tree, at);
        if (count == 0) return new Tally(1, 1, at.depth);
        List<Uts> children = new ArrayList<>(count);
        for (int i = 0; i < count; i++) children.add(new Uts(tree, childOf(at, i)));
        Tally sum = new Tally(1, 0, at.depth);
        for (Uts child : invokeAll(children)) sum = sum.plus(child.join());
        return sum;
    }
}
