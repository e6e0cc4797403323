// containers.cpp: what the runtime has found: CPUs, threads, and by which way it does I/O.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <string>
#include <tandem/cpu_count.hpp>
#include <tandem/io/install.hpp>
#include <tandem/runtime.hpp>

namespace io = tandem::io;

int main() {
  tandem::runtime runtime;
  io::completion_pool& pool = io::install(runtime);  // else the first I/O call makes it

  const auto workers = runtime.workers().stats();
  const auto completion = pool.stats();
  std::printf("CPUs that may be used: %u\n", tandem::usable_cpus());
  std::printf("workers: %u to %u\n", workers.min_threads, workers.max_threads);
  std::printf("completion threads: %u to %u, on %s\n", completion.min_threads,
              completion.max_threads, std::string(pool.backend_name()).c_str());
  return completion.max_threads >= 1 ? 0 : 1;
}
