"""Cost of 10,000 samples a second with whole stacks, on a program of the usual kind.

    python3 bench/runtime/samples.py BUILD/runtime/profile/libmonarc_rt.so.1 [REPETITIONS]

"empty" is the same number of ticks with a handler that does nothing: what the machine takes for the
interrupts and signals. Interleaved runs, medians of CPU time."""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    runtime = os.path.abspath(sys.argv[1])
    repetitions = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    with tempfile.TemporaryDirectory() as folder:
        plain, pg, tick = folder + "/plain", folder + "/pg", folder + "/tick.so"
        subprocess.run(["gcc", "-O2", HERE + "/words.c", "-o", plain], check=True)
        subprocess.run(["gcc", "-O2", "-pg", HERE + "/words.c", "-o", pg], check=True)
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", HERE + "/tick.c", "-o", tick], check=True)
        rt = {"LD_PRELOAD": runtime, "MONARC_OUT": folder + "/m"}
        variants = {
            "plain": (plain, {}),
            "empty": (plain, {"LD_PRELOAD": tick}),
            "calls only": (pg, dict(rt, MONARC_RATE="0")),
            "10 kHz, no stacks": (pg, dict(rt, MONARC_RATE="10000", MONARC_STACKS="0")),
            "10 kHz, stacks": (pg, dict(rt, MONARC_RATE="10000")),
            "1 kHz, stacks": (pg, dict(rt, MONARC_RATE="1000")),
            "glibc": (pg, {}),
        }
        variants = {name: ([program, "4"], env) for name, (program, env) in variants.items()}
        if shutil.which("perf"):  # the same clock at the same rate, the same walk by the kernel
            variants["perf record -g, 10 kHz"] = (
                ["perf", "record", "-q", "-o", folder + "/p", "-e", "task-clock:u", "-c", "100000",
                 "-g", plain, "4"], {})
        times = {v: [] for v in variants}
        for _ in range(repetitions):
            for name, (command, env) in variants.items():
                r = subprocess.run(command, cwd=folder, env=dict(os.environ, **env),
                                   capture_output=True, text=True, check=True)
                times[name].append(float(r.stdout.split()[0]))
                subprocess.run(["rm", "-rf", folder + "/m"])
        base = statistics.median(times["plain"])
        for name in variants:
            m = statistics.median(times[name])
            print("%-22s %.3f s  %+5.1f %%" % (name, m, 100 * (m / base - 1)))


if __name__ == "__main__":
    main()
