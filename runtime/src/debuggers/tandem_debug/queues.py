# queues.py: what lies in the queues of a runtime's workers, since the process stands still.
# SPDX-License-Identifier: MIT
"""Jobs, as (address, where it lies): "it lies ...". Queues of other executors (strands, fair queues, threads of I/O) are not
looked into."""

MOST = 1_000_000  # a chain that is longer is none: the process stands in the middle of a change


def of_pool(snapshot, pool):
    """Of a worker_pool::impl."""
    following = snapshot.kind("of_promise").find("next")[0] - snapshot.kind("of_promise").base_offset("job")
    workers = pool["workers"]
    slots = workers["slots_"].number()
    for i in range(workers["made_count_"].number()):
        address = pool.types.word(slots + 8 * i)
        if address != 0:
            yield from _of_worker(snapshot.place("of_worker", address))
    injection = pool["order"]["injection_"]
    where = "in the queue for what comes from outside"
    yield from _chain(pool.types, following, injection["oldest_"].number(), where, injection["waiting_"].number())
    yield from reversed(list(_chain(pool.types, following, injection["inbox_"]["newest_"].number(), where, MOST)))
    yield from _submitted(snapshot, pool["submissions"], following)


def _submitted(snapshot, queue, following):
    """What worker_pool::submit has left: in order or by rank, then what has come since."""
    types, where = queue.types, "among the submissions"
    order = queue["order_"]
    yield from _chain(types, following, order["in_order_"]["first_"].number(), where, order["in_order_"]["size_"].number())
    # A std::vector begins with where it begins and ends; each of its items ends with a pointer.
    begin, end = types.word(order["ranked_"].address), types.word(order["ranked_"].address + 8)
    job = snapshot.kind("of_joinable_root").base_offset("job")
    for address in range(begin, min(end, begin + 24 * MOST), 24):
        yield types.word(address + 16) + job, where
    yield from reversed(list(_chain(types, following, queue["inbox_"]["inbox_"]["newest_"].number(), where, MOST)))


def _of_worker(worker):
    name = f"of worker {worker['number'].number()}"
    if worker["handed"].number() != 0:
        yield worker["handed"].number(), f"handed over to worker {worker['number'].number()}"
    fifo = worker["fifo"]
    if fifo["next_"].number() != 0:
        yield fifo["next_"].number(), f"in the next slot {name}"
    slots = list(fifo["slots_"].elements())
    head, tail = fifo["head_"].number(), fifo["tail_"].number()
    for i in range(min((tail - head) % 2**32, len(slots))):
        yield slots[(head + i) % len(slots)].number(), f"in the lane {name}"
    forks = worker["forks"]
    top, bottom, mask = (forks[each].number() for each in ("top_", "bottom_", "mask_"))
    ring = forks["slots_"].number()
    for i in range(top, min(bottom, top + mask + 1)):
        yield worker.types.word(ring + 8 * (i & mask)), f"in the fork lane {name}"


def _chain(types, following, job, where, most):
    for _ in range(min(most, MOST)):
        if job == 0:
            return
        yield job, where
        job = types.word(job + following)
