"""What the rows of a suite are to reach: a figure, or so many times the figure of another row of the same run.
SPDX-License-Identifier: MIT
"""

# A thousandth of an allocation: those of the loop's own frame and tasks, which are made once.
SYNC_ALLOCATIONS = ["allocs_lock", "allocs_semaphore", "allocs_ping_pong", "allocs_channel", "allocs_select", "allocs_stream", "allocs_when_all", "allocs_scope",
                    "allocs_timeout"]
SYNC = ["lock_unlock", "lock_contended", "lock_handover", "read_unlock", "read_contended", "read_mostly", "semaphore", "semaphore_contended", "ping_pong", "channel_1_1",
        "channel_4_4", "channel_16_16", "oneshot", "unbounded_1_1", "broadcast_64", "watch_10k", "select_ready", "receive_wait", "select_wait",
        "when_all_8_ready", "when_all_8_yield", "scope_1000", "sleep_1m", "sleep_1m_memory", "timeout_ready",
        "timeout_yield", "cancel_10k", "cancel_100k"]

TLS_BULK = ["down_1", "down_8", "up_1", "up_8"]

POOL = ["post_1", "post_4", "outside_1", "outside_4", "inside", "submit_bounded", "submit_bounded_4"]

# case, impl, compiler (how its name begins), threads (0: each), factor, times which impl's median ("": a figure itself).
# 'serial' is that of one thread, of the same compiler; other impls are taken with the same number of threads. 'peers' is the
# best of all peers, 'IMPL@CASE' that one's figure in another case. Of several goals the hardest counts.
GOALS = {
    "fork_join": [
        ("fib_36", "tandem", "clang", 1, 15, ""),
        ("fib_36", "tandem", "clang", 2, 7.8, ""),
        ("fib_36", "tandem", "g++", 1, 18, ""),
        ("fib_36", "tandem", "g++", 2, 9.3, ""),
        ("fib_36", "tandem_invoke", "", 1, 5, ""),
        ("fib_36", "tandem_invoke", "", 2, 2.6, ""),
        ("skynet_1m", "tandem", "clang", 1, 15, ""),
        ("skynet_1m", "tandem", "clang", 2, 7.8, ""),
        ("nqueens_13", "tandem", "clang", 1, 1.0, "serial"),
        ("nqueens_13", "tandem", "g++", 1, 1.10, "serial"),
        ("uts_t1", "tandem", "clang", 1, 1.06, "serial"),
        ("uts_t1", "tandem", "g++", 1, 1.09, "serial"),
        ("uts_t1", "tandem_leaves_inline", "", 1, 1.02, "serial"),
        ("uts_t3", "tandem", "clang", 1, 1.06, "serial"),
        ("uts_t3", "tandem", "g++", 1, 1.09, "serial"),
        ("uts_t3", "tandem_leaves_inline", "", 1, 1.02, "serial"),
        ("matmul_1024", "tandem", "", 0, 1.0, "tbb"),
        ("spawn_join", "tandem", "", 1, 60, ""),
        ("spawn_join", "tandem", "", 2, 150, ""),
    ],
    "sync": [(case, "tandem", "", 0, 1.0, "peers") for case in SYNC] + [
        ("lock_unlock", "tandem", "", 1, 15, ""),
        ("oneshot", "tandem", "", 1, 40, ""),
        ("select_ready", "tandem", "", 1, 60, ""),
        ("select_wait", "tandem", "", 1, 1.5, "tandem@receive_wait"),
        ("selector_wait", "tandem", "", 1, 1.5, "tandem@receive_wait"),
        ("selector_wait", "tandem", "", 1, 1.0, "go@select_wait"),
        ("selector_wait", "tandem", "", 1, 1.0, "tokio@select_wait"),
        ("generator_item", "tandem", "", 1, 3, ""),
        ("stream_3", "tandem", "", 1, 25, ""),
        ("sleep_1m", "tandem", "", 0, 500, ""),
        ("sleep_1m_memory", "tandem", "", 1, 300, ""),
        ("timeout_ready", "tandem", "", 1, 100, ""),
        ("timeout_yield", "tandem", "", 1, 100, ""),
        ("cancel_100k", "tandem", "", 0, 1.5, "tandem@cancel_10k"),
        ("cancel_100k", "tandem", "", 0, 1.15, "bare_throw"),
        ("when_all_8_ready", "tandem", "", 0, 1.2, "tandem@fork_join_8_ready"),
    ] + [(case, "tandem", "", 1, 0.001, "") for case in SYNC_ALLOCATIONS],
    "pool": [(case, "tandem", "", 0, 1.0, "peers") for case in POOL] + [
        ("post_bulk", "tandem", "", 0, 20, ""),
        ("controller_short", "tandem", "", 0, 1.01, "tandem_fixed"),
        ("controller_fork_join", "tandem", "", 0, 1.01, "tandem_fixed"),
        ("hooks_1us", "all_hooks", "", 1, 1.05, "none"),
        ("hooks_1us", "all_hooks_one_in_16", "", 1, 1.05, "none"),
    ],
    "search": [(case, "tandem", "", threads, share, "serial")
               for case in ("korf_12", "korf_55", "korf_1") for threads, share in ((1, 0.95), (2, 1.9))] + [
        ("eight_graph", "tandem", "", 2, 1.7, "serial"),
    ],
    "process": [(f"start_wait_{n}", "tandem", "", 2, 0.95, "posix_spawn") for n in (1, 4)] + [
        (f"start_wait_{n}{figure}", "tandem", "", 2, 1.0, "tokio") for n in (1, 4) for figure in ("", "_cpu")],
    "sqlite": [(case, "tandem", "", 2, 0.95, "queue_thread") for case in ("select_1", "select_4", "select_hop", "select_hop_4", "insert_hop")] + [
        ("select_1_p99", "tandem", "", 2, 1.05, "queue_thread")],
    "asio": [(case, "tandem", "", 1, 0.8, "asio") for case in ("await_ready", "await_pending")] + [
        (case, "tandem", "", 1, 0.001, "") for case in ("allocs_await_ready", "allocs_await_pending")] + [
        (case, "tandem", "", 0, 1.0, "asio") for case in ("post_1", "outside_1", "outside_4", "inside")] + [
        (case, "tandem", "", 0, 0.95, "asio") for case in ("websocket_64", "http_hello")],
    "io": [
        ("echo_1t_64", "tandem_receive", "", 1, 0.97, "uring"),
        ("echo_1t_64.user", "tandem_receive", "", 1, 200, ""),
        ("echo_1t_512.cpu", "tandem_receive", "", 1, 1.03, "uring"),
        ("echo_1t_512.p99", "tandem_receive", "", 1, 2, "tandem_receive@echo_1t_512.p50"),
        ("echo_1t_1.p50", "tandem_receive", "", 1, 1.05, "uring"),
        ("echo_unix_1t_64", "tandem_unix_receive", "", 1, 1.0, "tandem_receive@echo_1t_64"),
        ("echo_unix_1t_64", "tandem_unix_receive", "", 1, 1.0, "peers"),
        ("echo_2t_64", "tandem_receive", "", 2, 0.97, "uring"),
        ("echo_2t_64", "tandem_stealable", "", 2, 0.97, "tokio"),
        ("echo_2t_64.p99", "tandem_stealable", "", 2, 1.1, "tokio"),
        ("echo_workers_1", "tandem_workers", "", 1, 0.8, "tokio"),
        ("echo_workers_64", "tandem_workers", "", 1, 1.0, "tokio"),
        ("echo_workers_64", "tandem_workers", "", 1, 0.99, "tandem_workers_fixed"),
        ("http_hello", "tandem_beast", "", 1, 1.05, "beast"),
        ("http_hello", "tandem_beast", "", 1, 0.9, "nginx"),
        ("greedy", "tandem_read", "", 1, 3, ""),
        ("greedy", "tandem_receive", "", 1, 3, ""),
        ("spin200", "tandem_spin", "", 2, 20, ""),
        ("idle_connections", "tandem_receive", "", 1, 1024 + 1304, ""),  # the second is the handler's frame, by g++
        ("idle_connections.megabytes", "tandem_receive", "", 1, 60, ""),
        ("idle_process", "tandem_read", "", 1, 0, ""),
        ("idle_process", "tandem_receive", "", 1, 0, ""),
        ("pread_cached", "tandem", "", 1, 0.95, "pread"),
        ("direct_read", "tandem", "", 1, 0.97, "fio"),
        ("direct_64k", "tandem_registered", "", 1, 0.95, "tandem"),
        ("direct_1m", "tandem_registered", "", 1, 0.75, "tandem"),
        ("walk_1m", "tandem", "", 2, 1.3, "find"),
        ("file_copy", "tandem", "", 1, 0.95, "cp"),
    ],
    # Datagrams a second of CPU time: 0.95 x the bare calls', and trains six times single ones.
    "udp": [
        ("echo.cpu_packet", "tandem", "", 1, 1.05, "mmsg"),
        ("echo.cpu_packet", "tandem", "", 1, 1.0, "peers"),
        ("echo", "tandem", "", 1, 1.0, "peers"),
        ("trains.cpu_packet", "tandem_trains", "", 1, 1 / 6, "tandem@echo.cpu_packet"),
    ],
    # Statements a second, and the slowest of a hundred: beside a loop over the same library, and other libraries.
    "postgres": [goal for case in ("single_1", "single_64", "pipeline_100") for goal in [
        (case, "tandem", "", 1, 0.95, "libpq"), (f"{case}.p99", "tandem", "", 1, 1.0, "libpq"), (case, "tandem", "", 1, 1.0, "peers")]],
    # As fast as the best loop over hiredis, and the slowest of 100 requests no slower.
    "redis": [goal for case in ("single", "shared", "pipeline") for goal in [
        (case, "tandem", "", 1, 0.95, "hiredis"), (f"{case}.p99", "tandem", "", 1, 1.0, "hiredis"),
        (f"{case}.cpu", "tandem", "", 1, 1.0, "hiredis"), (case, "tandem", "", 1, 1.0, "peers")]],
    # CPU of a client for each of 1,000 downloads over 64 connections, beside curl's own example of a loop of epoll.
    "curl": [(f"{case}.cpu", impl, "", 1, 1.05, "ephiperfifo") for case in ("small", "small_20k", "large") for impl in ("tandem", "tandem_asio")],
    # By the clock, and by the CPU time of the server: where the generator is the slower one, the clock says nothing.
    "tls": [goal for impl in ("tandem", "tandem_asio") for goal in [
        (case, impl, "", 1, 1.0, "peers") for case in ("echo_1", "echo_1.cpu", "echo_64", "echo_64.cpu")] + [
        (case, impl, "", 1, 0.97, "openssl") for case in TLS_BULK] + [
        (f"{case}.cpu_kib", impl, "", 1, 1.03, "openssl") for case in TLS_BULK] + [
        (case, impl, "", 1, 1.0, "nginx") for case in ("down_1", "down_8", "down_1.cpu_kib", "down_8.cpu_kib")] + [
        (case, impl, "", 1, 0.95, "nginx") for case in ("full", "resumed")] + [
        (f"{case}.cpu_handshake", impl, "", 1, 1.05, "nginx") for case in ("full", "resumed")]],
}
# Of 'self' rows, whatever the case: speed-up by medians and by best samples over one thread, as a share of the number of
# threads; peak memory in MB. Waits and yields of one task do not get faster by more threads, matrices take what they take.
EFFICIENCY = {"fork_join": (0.95, 0.975)}
MEMORY_MB = {"fork_join": 5}
NOT_PARALLEL = {"spawn_join", "yield"}
NOT_SMALL = {"matmul_1024"}


def times_serial(row, rows):
    """How long this row takes, in units of the serial one of the same compiler (else of the fastest there is)."""
    serial = [r for r in rows if r["case"] == row["case"] and r["impl"] == "serial"]
    serial = [r for r in serial if r["compiler"] == row["compiler"]] or serial
    if not serial:
        return None
    if row["better"] == "higher":
        return max(r["median"] for r in serial) / row["median"]
    return row["median"] / min(r["median"] for r in serial)


def speed_up(row, rows, figure):
    """Over the same row with one thread, by 'median' or by 'best' sample."""
    if row["threads"] == 1 or row["case"] in NOT_PARALLEL:
        return None
    for one in rows:
        if one["threads"] == 1 and all(one[k] == row[k] for k in ("case", "impl", "compiler")):
            return row[figure] / one[figure] if row["better"] == "higher" else one[figure] / row[figure]
    return None


def basis_of(row, rows, basis):
    """The figure that a goal is a multiple of, or None if this run has not measured it."""
    if not basis:
        return 1
    if basis == "peers":
        peers = [r["median"] for r in rows if r["role"] == "peer" and (r["case"], r["threads"]) == (row["case"], row["threads"])]
        return (min if row["better"] == "lower" else max)(peers, default=None)
    impl, _, case = basis.partition("@")
    case = case or row["case"]
    for other in rows:
        same = other["threads"] == (1 if basis == "serial" else row["threads"])
        # What none of our compilers has built (preset: none) is compared with all of them.
        compiler = row["compiler"] if other["preset"] is not None else other["compiler"]
        if same and (other["case"], other["impl"], other["compiler"]) == (case, impl, compiler):
            return other["median"]
    return None


def reach(row, rows):
    """The hardest figure to reach and how it reads, or None and an empty text."""
    found = []
    for case, impl, compiler, threads, factor, basis in GOALS.get(row["suite"], []):
        if (case, impl) != (row["case"], row["impl"]) or threads not in (0, row["threads"]):
            continue
        figure = basis_of(row, rows, basis)
        if row["compiler"].startswith(compiler) and figure is not None:
            found.append((factor * figure, f"{factor:g} x {basis}" if basis else f"{factor:g}"))
    return (min if row["better"] == "lower" else max)(found, default=(None, ""))


def report(suite, rows):
    """Lines that say what was reached and what was not."""
    lines = []

    def say(what, got, goal, better, unit):
        good = got <= goal if better == "lower" else got >= goal
        lines.append(f"  {'reached' if good else 'MISSED ':8} {what:62} {got:9.2f} of {goal:9.2f} {unit}")

    for row in rows:
        name = f"{row['case']} {row['impl']}, {row['compiler']}, {row['threads']} thr"
        if row["reach"] is not None:
            say(name + (f" ({row['reach_text']})" if " x " in row["reach_text"] else ""),
                row["median"], row["reach"], row["better"], row["unit"])
    for row in rows if suite in EFFICIENCY else []:
        got = [speed_up(row, rows, figure) for figure in ("median", "best")]
        if row["role"] == "self" and None not in got:
            wanted = [share * row["threads"] for share in EFFICIENCY[suite]]
            good = got[0] >= wanted[0] and got[1] >= wanted[1]
            name = f"{row['case']} {row['impl']}, {row['compiler']}, {row['threads']} thr: speed-up"
            lines.append(f"  {'reached' if good else 'MISSED ':8} {name:62} {got[0]:5.2f} of {wanted[0]:5.2f}, "
                         f"best samples {got[1]:5.2f} of {wanted[1]:5.2f}")
    small = [r for r in rows if r["role"] == "self" and r["case"] not in NOT_SMALL]
    if small and suite in MEMORY_MB:
        most = max(small, key=lambda r: r["rss_kb"])
        say(f"peak memory ({most['case']} {most['impl']}, {most['compiler']}, {most['threads']} thr)",
            most["rss_kb"] / 1024, MEMORY_MB[suite], "lower", "MB")
    return lines
