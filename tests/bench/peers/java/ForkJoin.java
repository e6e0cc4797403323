// ForkJoin.java: suite fork_join by Java's ForkJoinPool and RecursiveTask; same protocol as bench.hpp.
// SPDX-License-Identifier: MIT
//
// A sample is one process as everywhere, so it has to warm up in it: the work is repeated until the JIT compiler
// has had WARM_UP_SECONDS, then measured once.
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;
import java.util.function.Supplier;

final class ForkJoin {
    static final double WARM_UP_SECONDS = 3;

    /** `units` is what the time is divided by; GFLOP/s is the inverse of nanoseconds per operation. */
    record Case(String name, String unit, String input, boolean extra, double units, Supplier<RecursiveTask<?>> root,
                Object expected) {}

    static final class Fib extends RecursiveTask<Long> {
        final int n;
        Fib(int n) { this.n = n; }
        @Override protected Long compute() {
            if (n < 2) return (long) n;
            Fib a = new Fib(n - 1);
            a.fork();
            long b = new Fib(n - 2).compute();
            return a.join() + b;
        }
    }

    static final class Skynet extends RecursiveTask<Long> {
        final long first, count;
        Skynet(long first, long count) { this.first = first; this.count = count; }
        @Override protected Long compute() {
            if (count == 1) return first;
            long part = count / 10;
            List<Skynet> children = new ArrayList<>(10);
            for (int i = 0; i < 10; i++) children.add(new Skynet(first + i * part, part));
            long sum = 0;
            for (Skynet child : invokeAll(children)) sum += child.join();
            return sum;
        }
    }

    static List<Case> cases() {
        List<Case> all = new ArrayList<>();
        all.add(new Case("fib_36", "ns/task", "n=36, every call a task", false, 48_315_633, () -> new Fib(36), 14_930_352L));
        all.add(new Case("skynet_1m", "ns/task", "1,000,000 leaves, 10 children a node", false, 1_111_111,
                         () -> new Skynet(0, 1_000_000), 499_999_500_000L));
        all.add(new Case("nqueens_13", "ns/node", "n=13, every safe placement a task", false, 4_674_890,
                         () -> new Queens(0, new byte[Queens.N]), 73_712));
        for (Uts.Tree t : Uts.TREES) {
            boolean extra = !t.name().equals("uts_t1") && !t.name().equals("uts_t3");
            all.add(new Case(t.name(), "ns/node", t.found().nodes() + " nodes, depth " + t.found().depth(), extra,
                             t.found().nodes(), () -> new Uts(t, Uts.rootOf(t)), t.found()));
        }
        all.add(new Case("matmul_1024", "GFLOP/s", "1024 x 1024 doubles, quadrants down to 32 x 32", false,
                         2.0 * Matmul.N * Matmul.N * Matmul.N, Matmul::root, Matmul.EXPECTED));
        return all;
    }

    static double seconds(ForkJoinPool pool, Case c) {
        RecursiveTask<?> root = c.root.get();
        long start = System.nanoTime();
        Object got = pool.invoke(root);
        double taken = (System.nanoTime() - start) * 1e-9;
        if (!c.expected.equals(got)) throw new IllegalStateException(c.name + " gave " + got + " instead of " + c.expected);
        return taken;
    }

    static double sample(Case c, int threads) {
        ForkJoinPool pool = new ForkJoinPool(threads);
        double once = 0;
        for (double spent = 0; spent < WARM_UP_SECONDS; spent += once) once = seconds(pool, c);
        int passes = (int) Math.max(1, 0.1 / once);  // a figure of at least a tenth of a second
        double taken = 0;
        for (int i = 0; i < passes; i++) taken += seconds(pool, c);
        double each = taken * 1e9 / passes / c.units;
        return c.unit.equals("GFLOP/s") ? 1 / each : each;
    }

    static long peakMemoryKb() throws java.io.IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) return Long.parseLong(line.replaceAll("[^0-9]", ""));
        }
        return 0;
    }

    static void list(String counts) {
        String version = "OpenJDK " + System.getProperty("java.version");
        for (Case c : cases()) {
            for (String threads : counts.split(",")) {
                System.out.printf("{\"case\":\"%s\",\"impl\":\"java\",\"role\":\"peer\",\"unit\":\"%s\",\"better\":\"%s\","
                        + "\"input\":\"%s\",\"version\":\"%s\",\"compiler\":\"javac %s\",\"extra\":%b,\"threads\":%s}%n",
                        c.name, c.unit, c.unit.equals("GFLOP/s") ? "higher" : "lower", c.input, version,
                        System.getProperty("java.version"), c.extra, threads);
            }
        }
    }

    public static void main(String[] args) throws java.io.IOException {
        if (args.length >= 1 && args[0].equals("--list")) {
            list(args.length > 1 ? args[1] : "1,2");
            return;
        }
        for (Case c : cases()) {
            if (args.length != 3 || !c.name.equals(args[0]) || !args[1].equals("java")) continue;
            double value = sample(c, Integer.parseInt(args[2]));
            System.out.printf("{\"value\":%.9g,\"rss_kb\":%d}%n", value, peakMemoryKb());
            return;
        }
        System.err.println("usage: bench_fork_join_java --list [THREADS,...] | CASE java THREADS");
        System.exit(2);
    }
}
