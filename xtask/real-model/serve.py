"""Serves the model on 127.0.0.1 until it is stopped: serve.py GGUF PORT"""

import sys
import threading

import xllamacpp

gguf, port = sys.argv[1], int(sys.argv[2])
params = xllamacpp.CommonParams()
params.model.path = gguf
# Answers name the model; without an alias they name a folder of this machine.
params.model_alias = {"qwen2.5-coder-1.5b"}
params.hostnames = ["127.0.0.1"]
params.port = port
params.n_ctx = 16384
params.n_parallel = 1
# An old question's state, taken up again, changes the last bits of an answer, and then its words.
params.cache_ram_mib = 0
params.use_jinja = True
# Who does not say a temperature gets the same answer each time.
params.sampling.temp = 0.0
# Work cut for another number of threads is added up in another order, which changes answers too.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 2
server = xllamacpp.Server(params)
print(f"qwen2.5-coder-1.5b at {server.listening_address}/v1; Ctrl-C ends it", flush=True)
try:
    threading.Event().wait()
except KeyboardInterrupt:
    pass
