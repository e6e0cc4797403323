# text.py: the answers of the commands, as lines.
# SPDX-License-Identifier: MIT
import re

from . import frames, waits, words

LIKE_THIS = 3  # so many numbers are named of those that a line stands for


def tasks(snapshot, grouped=True):
    """All tasks; children below their parents. Grouped: one of those that do not differ stands for all of them."""
    out = []
    for runtime in snapshot.runtimes:
        workers = f"{runtime.workers} worker{'s' if runtime.workers != 1 else ''}"
        out.append(f'runtime "{runtime.name}": {count(runtime.live, "task")} live, {workers}')
        shown = sum(1 + sum(1 for _ in _below(each)) for each in runtime.tasks)
        out += _nodes(runtime.tasks, grouped, 1)
        if runtime.live > shown:
            out.append(f"  {count(runtime.live - shown, 'more task')}: not begun, in queues that are not looked into "
                       "(strands, fair queues, threads of I/O)")
    if not snapshot.runtimes:
        out.append("no runtime lives")
    for each in snapshot.damaged[:LIKE_THIS]:
        out.append(f"not readable, maybe in the middle of a change: {each}")
    return out


def answer_tasks(snapshot, arguments):
    """Of "tandem tasks [--all]". Raises ValueError: the usage."""
    if any(each != "--all" for each in arguments):
        raise ValueError("usage: tandem tasks [--all]")
    return tasks(snapshot, grouped="--all" not in arguments)


def count(number, what):
    return f"{number} {what}" + ("" if number == 1 else "s")


def _below(node):
    for each in node.inner_tasks():
        yield each
        yield from _below(each)


def _nodes(nodes, grouped, depth):
    groups = {}
    for node in nodes:
        lines = _node(node, grouped, depth)
        key = tuple(_without_numbers(line) for line in lines) if grouped else node.place.address
        groups.setdefault(key, []).append((node, lines))
    out = []
    for same in groups.values():
        lines = same[0][1]
        if len(same) > 1:
            others = ", ".join(str(node.id) for node, _ in same[1:LIKE_THIS + 1])
            more = ", ..." if len(same) > LIKE_THIS + 1 else ""
            lines[0] += f"  [{len(same)} like this: also {others}{more}]"
        out += lines
    return out


def _without_numbers(line):
    line = re.sub(r"\btask \d+", "task", line)
    line = re.sub(r"\(due [^)]*\)", "", line)
    line = re.sub(r"in the (lane|next slot|fork lane) of worker \d+", "in a lane", line)
    return re.sub(r"\[(\d+) like this: [^]]*\]", r"[\1]", re.sub(r"0x[0-9a-f]+", "", line))


def _node(node, grouped, depth):
    pad = "  " * depth
    out = [pad + headline(node)]
    thread = node.running_on()
    if thread is not None:
        for frame in node.snapshot.running_chain(thread[0])[:1]:
            out.append(f"{pad}  {frame.name()}{place(frame)} runs")
    for wait in _joined_waits(node):
        out.append(pad + "  " + wait_line(wait, node))
    out += _nodes(list(node.inner_tasks()), grouped, depth + 1)
    return out


def _joined_waits(node):
    """Those of the task itself; not twice what two environments tell of one frame."""
    seen = set()
    for wait in node.all_waits():
        key = (wait.promise.address, wait.leaf.address if wait.leaf is not None else 0)
        if key not in seen:
            seen.add(key)
            yield wait


def headline(node):
    name = f'task {node.id}'
    if node.name:
        name += f' "{node.name}"'
    if node.body is not None:
        name += f", {node.body.name()}"
    out = f"{name}: {state(node)}"
    if node.reason != 0:
        reason = words.STOP_REASONS[node.reason] if node.reason < len(words.STOP_REASONS) else str(node.reason)
        out += f", asked to stop ({reason})"
    if node.spawned_at is not None:
        file, line, function = node.spawned_at
        out += f", spawned at {file}:{line}" + (f" in {frames.plain_function(function)}" if function else "")
    return out


def state(node):
    thread = node.running_on()
    found = node.all_waits()
    if thread is not None:
        return f"runs on {thread[1]}"
    if node.queued is not None:
        return f"has not begun, it lies {node.queued}"
    if not found:
        if any(True for _ in node.inner_tasks()):
            return "waits, or may go on: no wait of its own is known"
        return "may go on, in no queue that is looked into, or is about to end"
    if all(each.how == "queued" for each in found):
        return "may go on"
    return "waits"


def wait_line(wait, node):
    """Of one place where a task stands: the function, the line, why; what stands between it and the task."""
    chain = wait.frames()
    inner = borders(wait, node)
    where = place(chain[0])
    return f"{''.join(f'[{each}] ' for each in inner)}{chain[0].name()}{where} {waits.describe(wait)}"


def borders(wait, node):
    """The words of the environments between a task and one of its waits, the outer ones first."""
    out = []
    address = wait.promise["env"].number()
    while address not in (0, node.place.address):
        inner = node.snapshot.nodes.get(address)
        if inner is None or inner.is_task:
            break
        out.append(inner.word())
        address = inner.parent
    return list(reversed(out))


def place(frame):
    found = frame.where()
    if found is None:
        return ""
    file, line, what = found
    return f" (begins at {file}:{line})" if what == "begins" else f" {what} {file}:{line}"


def backtrace(snapshot, node, with_locals=False):
    """The chains of awaits of a task: from where it stands up to the task itself, then who spawned it."""
    out = [headline(node)]
    thread = node.running_on()
    if thread is not None:
        out += ["", f"{thread[1]}:"] + _running(snapshot, thread[0], with_locals)
    for wait in _joined_waits(node):
        out += ["", waits.describe(wait)]
        out += chain_lines(snapshot, wait.frames(), with_locals)
    if node.queued is not None and node.body is not None:
        out += ["", "has not begun"] + chain_lines(snapshot, [node.body], with_locals)
    parent = snapshot.nodes.get(node.parent)
    while parent is not None and not parent.is_task:
        parent = snapshot.nodes.get(parent.parent)
    if parent is not None:
        out += ["", f"in a scope of {headline(parent)}"]
    return out


def _running(snapshot, thread, with_locals):
    """What a thread runs of a task: the frames on its stack, then those that await the outermost one."""
    chain = snapshot.running_chain(thread)
    if not chain:
        return ["  which of its coroutines runs cannot be found (its frames are optimised away): see the thread's backtrace"]
    return chain_lines(snapshot, chain, with_locals)


def chain_lines(snapshot, chain, with_locals=False):
    out = []
    for i, frame in enumerate(chain):
        line = f"  #{i:<2} {frame.name()}{place(frame)}"
        if i + 1 < len(chain):
            inner = snapshot.node_of(frame.promise["env"].number())
            if inner is not None and not inner.is_task and chain[i + 1].promise["env"].number() != inner.place.address:
                line += f"  [{inner.word()}]"
        out.append(line)
        if with_locals:
            found = frame.locals()
            if found is None:
                out.append("       no debug information describes this frame")
            else:
                out += [f"       {name} = {value}" for name, value in found] or ["       no variables"]
    return out


MOST_OF_A_NAME = 8


def answer_bt(snapshot, arguments, thread):
    """Of "tandem bt [ID|NAME] [--locals]". Without a task: of the one that the thread runs. Raises ValueError: the usage."""
    named = [each for each in arguments if not each.startswith("--")]
    if len(named) > 1 or any(each.startswith("--") and each != "--locals" for each in arguments):
        raise ValueError("usage: tandem bt [ID|NAME] [--locals]")
    found = _asked(snapshot, named, thread)
    if not found:
        return [f"no task {named[0]} is known: see tandem tasks" if named
                else "the selected thread runs no task; tandem tasks lists all of them"]
    out = []
    for node in found[:MOST_OF_A_NAME]:
        out += [""] * bool(out) + backtrace(snapshot, node, "--locals" in arguments)
    if len(found) > MOST_OF_A_NAME:
        out += ["", f"and {count(len(found) - MOST_OF_A_NAME, 'more task')} of that name"]
    return out


def _asked(snapshot, named, thread):
    if not named:
        return [snapshot.threads[thread].task()] if thread in snapshot.threads else []
    tasks = sorted(snapshot.all_tasks(), key=lambda each: each.id)
    if named[0].isdigit():
        return [each for each in tasks if each.id == int(named[0])]
    return [each for each in tasks if named[0] in (each.name, each.body.name() if each.body is not None else "")]
