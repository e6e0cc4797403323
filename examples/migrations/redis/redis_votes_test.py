"""redis_votes_test.py SUPPORT BEFORE AFTER: both count the same votes, and say the same of a server that is not there.
SPDX-License-Identifier: MIT
"""
import pathlib
import random
import re
import subprocess
import sys

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


def main():
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
