"""redis_votes_test.py SUPPORT BEFORE AFTER: both count the same votes, and say the same of a server that is not there.
With --measure ROUNDS VOTES it measures instead: both in turn, medians of votes a second and of CPU time, and of the rounds' ratios.
SPDX-License-Identifier: MIT
"""
import pathlib
import random
import re
import resource
import statistics
import subprocess
import sys
import time

sys.path.insert(0, sys.argv[1])
import servers  # noqa: E402


def told(program, port, votes):
    done = subprocess.run([program, str(port)], input="".join(each + "\n" for each in votes), capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def check_lines():
    here = pathlib.Path(__file__).resolve().parent
    for file, said in re.findall(r"\]\((\w+\.cpp)\) \| (\d+) \|", (here / "README.md").read_text()):
        counted = sum(1 for line in (here / file).read_text().splitlines() if line.strip() and not line.strip().startswith("//"))
        assert counted == int(said), f"README.md: {file} has {counted} lines, not {said}"


def measure(programs, rounds, count):
    votes = [f"candidate {each % 100}" for each in range(count)]
    samples = {program: [] for program in programs}
    with servers.Servers("redis") as running:
        for at in range(rounds):
            for program in programs if at % 2 == 0 else programs[::-1]:
                began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
                assert told(program, running["redis"].port, votes)[0] == 0, program
                took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
                cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                samples[program].append((count / took, cpu / count * 1e6))
    for program in programs:
        rate, cpu = (statistics.median(column) for column in zip(*samples[program]))
        print(f"{pathlib.Path(program).name}: {rate:.0f} votes a second, {cpu:.2f} us of CPU each")
    for at, name in enumerate(("rate", "CPU")):
        print(f"{name}, after / before: {statistics.median(b[at] / a[at] for a, b in zip(*(samples[p] for p in programs))):.2f}")
    return 0


def main():
    if "--measure" in sys.argv:
        at = sys.argv.index("--measure")
        return measure(sys.argv[2:at], int(sys.argv[at + 1]), int(sys.argv[at + 2]))
    check_lines()
    programs = sys.argv[2:]
    random.seed(1)
    names = ["Ada", "Grace", "Edsger", "a name with blanks", "%s", ""]
    elections = [[], ["Ada"], [random.choice(names) for _ in range(5000)]]
    with servers.Servers("redis") as running:
        redis = running["redis"]
        for votes in elections:
            answers = []
            for program in programs:
                answers.append(told(program, redis.port, votes))
                redis.kill()  # it stores nothing
                redis.start()
            expected = "".join(f"{each} {votes.count(each)}\n" for each in sorted(set(votes))) + f"{len(votes)} votes\n"
            for program, answer in zip(programs, answers):
                assert answer == (0, expected, ""), f"{program}: {answer}, expected {expected}"
        subprocess.run(["redis-cli", "-p", str(redis.port), "SET", "votes:Ada", "many"], check=True, stdout=subprocess.DEVNULL)
        for program in programs:
            status, out, words = told(program, redis.port, ["Ada"])
            assert (status, out) == (1, "") and "value is not an integer" in words, f"{program}: {status} {out} {words}"
        redis.stop()
        for program in programs:
            status, out, words = told(program, redis.port, ["Ada"])
            assert (status, out) == (1, "") and "refused" in words, f"{program}: {status} {out} {words}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
