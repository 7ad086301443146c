"""Cost of one recorded call: uninstrumented, glibc's mcount, monarc, and the limit.

    python3 bench/runtime/run.py BUILD/runtime/profile/libmonarc_rt.so.1 [REPETITIONS]

Runs are interleaved, figures are medians of per-thread CPU time over batches that nobody
interrupted; "added" is over the uninstrumented program. Read the ratios."""
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = [("fib", 1), ("fib", 2), ("direct", 1), ("direct", 2), ("indirect", 1), ("indirect", 2)]
MILLIONS = 30


def build(folder):
    source, plain, pg = os.path.join(HERE, "calls.c"), folder + "/plain", folder + "/pg"
    flags = ["-O2", "-pthread", "-fno-optimize-sibling-calls", "-fno-ipa-ra"]
    subprocess.run(["gcc", *flags, source, "-o", plain], check=True)
    subprocess.run(["gcc", *flags, "-pg", source, "-o", pg], check=True)
    subprocess.run(["gcc", "-shared", "-fPIC", os.path.join(HERE, "limit.S"), "-o",
                    folder + "/limit.so"], check=True)
    return plain, pg


def once(folder, command, kind, threads, millions, **env):
    """Nanoseconds a call, and in how many of 64 batches every thread had a processor."""
    command = command if isinstance(command, list) else [command]
    r = subprocess.run([*command, kind, str(millions), str(threads)], cwd=folder, text=True,
                       env=dict(os.environ, **env), capture_output=True, check=True)
    ns, undivided = r.stdout.split()[:2]
    return float(ns), int(undivided)


def main():
    runtime = os.path.abspath(sys.argv[1])
    repetitions = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    with tempfile.TemporaryDirectory() as folder:
        plain, pg = build(folder)
        variants = {
            "plain": (plain, {}),
            "glibc": (pg, {}),
            "monarc": (pg, {"LD_PRELOAD": runtime, "MONARC_RATE": "0", "MONARC_OUT": "m"}),
            "no file": (pg, {"LD_PRELOAD": runtime, "MONARC_RATE": "0", "MONARC_LIVE": "0",
                             "MONARC_OUT": "m"}),
            "limit": (pg, {"LD_PRELOAD": folder + "/limit.so"}),
        }
        print("%-9s %7s | %s | added: glibc / monarc, monarc / limit" % (
            "kind", "threads", " ".join("%8s" % v for v in variants)))
        for kind, threads in KINDS:
            times, fewest = {v: [] for v in variants}, 64
            for _ in range(repetitions):
                for name, (command, env) in variants.items():
                    slow = name == "glibc" and (threads > 1 or kind == "indirect")
                    ns, undivided = once(folder, command, kind, threads,
                                         (6 if threads > 1 else 2) if slow else MILLIONS, **env)
                    times[name].append(ns)
                    fewest = min(fewest, undivided)
                    subprocess.run(["rm", "-rf", folder + "/m"])
            m = {v: statistics.median(t) for v, t in times.items()}
            added = {v: m[v] - m["plain"] for v in m}
            print("%-9s %7d | %s | %.1f, %.2f%s" % (
                kind, threads, " ".join("%8.2f" % m[v] for v in variants),
                added["glibc"] / added["monarc"], added["monarc"] / added["limit"],
                "" if fewest else "  (some runs were never undisturbed)"), flush=True)

if __name__ == "__main__":
    main()
