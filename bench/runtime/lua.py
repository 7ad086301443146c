"""Total slowdown of a real program under load: Lua's interpreter.

    python3 bench/runtime/lua.py BUILD/runtime/profile/libmonarc_rt.so.1 LUA_SOURCES [REPETITIONS]

LUA_SOURCES is the unpacked source package (`apt-get source lua5.4`). The script makes calls of Lua
and C functions, tables and strings. Interleaved runs, medians of CPU time over the uninstrumented
build's."""
import glob
import os
import resource
import statistics
import subprocess
import sys
import tempfile

SCRIPT = """
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local words = {}
for i = 1, 60000 do words[i] = string.format("%x", (i * 7919) % 65536) end
local count = {}
for _, w in ipairs(words) do
  for c in w:gmatch(".") do count[c] = (count[c] or 0) + 1 end
end
table.sort(words, function(a, b) return a < b end)
local text = table.concat(words, " ")
print(fib(25), #text:gsub("%w+", string.upper), count["a"])
"""


def compile_lua(sources, out, *flags):
    # Debian's change to luaconf.h wants this; modules are not loaded here.
    include = os.path.dirname(out)
    with open(include + "/lua5.4-deb-multiarch.h", "w", encoding="utf-8") as f:
        f.write('#define DEB_HOST_MULTIARCH "none"\n')
    files = [f for f in glob.glob(os.path.join(sources, "src", "*.c"))
             if os.path.basename(f) != "luac.c"]
    subprocess.run(["gcc", "-O2", "-w", "-std=gnu99", "-DLUA_USE_POSIX", "-I", include, *flags,
                    *files, "-o", out, "-lm"], check=True)


def cpu_time(command, folder, env):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, env=dict(os.environ, **env), check=True,
                   stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    runtime, sources = os.path.abspath(sys.argv[1]), sys.argv[2]
    repetitions = int(sys.argv[3]) if len(sys.argv) > 3 else 9
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/load.lua", "w", encoding="utf-8") as f:
            f.write(SCRIPT)
        compile_lua(sources, folder + "/plain")
        compile_lua(sources, folder + "/pg", "-pg")
        preload = {"LD_PRELOAD": runtime, "MONARC_OUT": folder + "/m"}
        variants = {
            "uninstrumented": ("plain", {}),
            "glibc, 100 Hz": ("pg", {}),
            "monarc, calls only": ("pg", dict(preload, MONARC_RATE="0")),
            "monarc, 1 kHz with stacks": ("pg", preload),
            "monarc on the uninstrumented, 1 kHz": ("plain", preload),
        }
        times = {name: [] for name in variants}
        for _ in range(repetitions):
            for name, (program, env) in variants.items():
                times[name].append(cpu_time([folder + "/" + program, "load.lua"], folder, env))
                subprocess.run(["rm", "-rf", folder + "/m"], check=True)
        base = statistics.median(times["uninstrumented"])
        for name, t in times.items():
            print("%-36s %.3f s  %.2f" % (name, statistics.median(t), statistics.median(t) / base))


if __name__ == "__main__":
    main()
