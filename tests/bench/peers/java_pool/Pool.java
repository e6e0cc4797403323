// Pool.java: suite pool by Java's ThreadPoolExecutor and ForkJoinPool; same protocol as bench.hpp, same rounds as pool/.
// SPDX-License-Identifier: MIT
//
// A sample is one process, so it warms up in it: rounds are repeated until the JIT compiler has had WARM_UP_SECONDS, then
// ROUNDS of them are measured. The items of a case are one Runnable, which is what costs Java least.
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;

final class Pool {
    static final double WARM_UP_SECONDS = 2;
    static final int ROUND_ITEMS = 200_000, ROUNDS = 5, CHAINS = 64;

    static final LongAdder ran = new LongAdder();
    static final Runnable ITEM = ran::increment;

    record Case(String name, String impl, String unit, String input, int producers, boolean cpu, boolean chains,
                IntFunction<ExecutorService> pool) {}

    static ExecutorService threadPool(int threads) {
        return new ThreadPoolExecutor(threads, threads, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
    }
    static ExecutorService boundedPool(int threads) {
        return new ThreadPoolExecutor(threads, threads, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(1024),
                                      new ThreadPoolExecutor.CallerRunsPolicy());
    }

    static List<Case> cases() {
        String cpu = "CPU ns/post", wall = "ns/item";
        List<Case> all = new java.util.ArrayList<>();
        for (String impl : List.of("java_threads", "java_fork_join")) {
            IntFunction<ExecutorService> pool = impl.equals("java_threads") ? Pool::threadPool : ForkJoinPool::new;
            for (int producers : new int[] {1, 4}) {
                String from = producers + (producers == 1 ? " producer outside" : " producers outside");
                all.add(new Case("post_" + producers, impl, cpu, from + ": what a post costs", producers, true, false, pool));
                all.add(new Case("outside_" + producers, impl, wall, from + ", until all items have run", producers, false,
                                 false, pool));
            }
            all.add(new Case("inside", impl, wall, "64 items that post one more each, and so on: 200,000", 1, false, true, pool));
        }
        all.add(new Case("submit_bounded", "java_threads", wall, "a queue of 1,024, caller runs", 1, false, false,
                         Pool::boundedPool));
        all.add(new Case("submit_bounded_4", "java_threads", wall, "the same by 4 producers", 4, false, false,
                         Pool::boundedPool));
        return all;
    }

    static final class Link extends RecursiveAction {
        final int left;
        Link(int left) { this.left = left; }
        @Override protected void compute() {
            if (left > 1) new Link(left - 1).fork();
            ran.increment();
        }
    }

    static void start(ExecutorService pool, int length) {
        if (pool instanceof ForkJoinPool joining) {
            joining.execute(new Link(length));
            return;
        }
        pool.execute(() -> {
            if (length > 1) start(pool, length - 1);
            ran.increment();
        });
    }

    static void post(ExecutorService pool, Case c) {
        if (c.chains) {
            for (int i = 0; i < CHAINS; i++) start(pool, ROUND_ITEMS / CHAINS);
            return;
        }
        for (int i = 0; i < ROUND_ITEMS / c.producers; i++) pool.execute(ITEM);
    }

    /** One round; the figure of an item. */
    static double round(ExecutorService pool, Case c) throws InterruptedException {
        ThreadMXBean times = ManagementFactory.getThreadMXBean();
        long items = ROUND_ITEMS;
        long expected = ran.sum() + items;
        AtomicLong cpu = new AtomicLong();
        CountDownLatch ready = new CountDownLatch(c.producers), go = new CountDownLatch(1);
        Thread[] threads = new Thread[c.producers];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                ready.countDown();
                try {
                    go.await();
                } catch (InterruptedException stopped) {
                    return;
                }
                long before = times.getCurrentThreadCpuTime();
                post(pool, c);
                cpu.addAndGet(times.getCurrentThreadCpuTime() - before);
            });
            threads[i].start();
        }
        ready.await();
        long start = System.nanoTime();
        go.countDown();
        for (Thread each : threads) each.join();
        while (ran.sum() < expected) LockSupport.parkNanos(20_000);
        long taken = System.nanoTime() - start;
        if (ran.sum() != expected) throw new IllegalStateException(c.name + ": too many items have run");
        return (double) (c.cpu ? cpu.get() : taken) / items;
    }

    static double sample(Case c, int threads) throws InterruptedException {
        ExecutorService pool = c.pool.apply(threads);
        long end = System.nanoTime() + (long) (WARM_UP_SECONDS * 1e9);
        while (System.nanoTime() < end) round(pool, c);
        double sum = 0;
        for (int i = 0; i < ROUNDS; i++) sum += round(pool, c);
        pool.shutdown();
        return sum / ROUNDS;
    }

    static long peakMemoryKb() throws java.io.IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) return Long.parseLong(line.replaceAll("[^0-9]", ""));
        }
        return 0;
    }

    static void list(String counts) {
        String version = System.getProperty("java.version");
        for (Case c : cases()) {
            for (String threads : counts.split(",")) {
                System.out.printf("{\"case\":\"%s\",\"impl\":\"%s\",\"role\":\"peer\",\"unit\":\"%s\",\"better\":\"lower\","
                        + "\"input\":\"%s\",\"version\":\"OpenJDK %s\",\"compiler\":\"javac %s\",\"extra\":false,"
                        + "\"threads\":%s}%n", c.name, c.impl, c.unit, c.input, version, version, threads);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        if (args.length >= 1 && args[0].equals("--list")) {
            list(args.length > 1 ? args[1] : "1,2");
            return;
        }
        for (Case c : cases()) {
            if (args.length != 3 || !c.name.equals(args[0]) || !c.impl.equals(args[1])) continue;
            double value = sample(c, Integer.parseInt(args[2]));
            System.out.printf("{\"value\":%.9g,\"rss_kb\":%d}%n", value, peakMemoryKb());
            return;
        }
        System.err.println("usage: bench_pool_java --list [THREADS,...] | CASE IMPL THREADS");
        System.exit(2);
    }
}
