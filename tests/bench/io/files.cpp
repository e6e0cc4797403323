// files.cpp: suite io: random reads, from the page cache and past it; copies of a file.
// SPDX-License-Identifier: MIT
//
// fio's jobs (harness) read the same file: TANDEM_BENCH_FILE, else build/bench_io.data, 256 MiB.
#include "io/files.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string>
#include <tandem/io/copy.hpp>
#include <tandem/io/file.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/registered_buffer.hpp>
#include <tandem/sync_wait.hpp>
#include <tandem/task_scope.hpp>

namespace tandem::bench {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t block = 4096;
constexpr std::uint64_t file_bytes = std::uint64_t{256} << 20;
constexpr std::chrono::seconds span(1);
constexpr int between_looks = 64;  // reads of a block from one look at the clock to the next

/// Offsets of blocks; the same for all implementations.
class random_blocks {
 public:
  explicit random_blocks(std::uint64_t seed, std::uint64_t size = block)
      : state_(seed * 0x9E3779B97F4A7C15U + 1), size_(size) {}
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ % (file_bytes / size_) * size_;
  }

 private:
  std::uint64_t state_;
  std::uint64_t size_;
};

std::string data_file() {
  const char* const given = std::getenv("TANDEM_BENCH_FILE");
  std::string path = given != nullptr ? given : "build/bench_io.data";
  const int out = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (out < 0) throw std::runtime_error("no file " + path);
  if (::lseek(out, 0, SEEK_END) < static_cast<off_t>(file_bytes)) {
    random_blocks bits(7);
    std::vector<std::uint64_t> words((1U << 20) / 8);
    for (std::uint64_t at = 0; at < file_bytes; at += 1U << 20) {
      for (std::uint64_t& each : words) each = bits.next();
      if (::pwrite(out, words.data(), 1U << 20, static_cast<off_t>(at)) != 1 << 20) {
        throw std::runtime_error("cannot write " + path);
      }
    }
    ::fsync(out);
  }
  ::close(out);
  return path;
}

/// Into the page cache.
void warm_up(const std::string& path) {
  std::vector<std::byte> chunk(1U << 20);
  const int in = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  while (::read(in, chunk.data(), chunk.size()) > 0) {}
  ::close(in);
}

double per_second(long reads, clock::time_point start) {
  return static_cast<double>(reads) / std::chrono::duration<double>(clock::now() - start).count();
}

ssize_t read_plain(int in, std::span<std::byte> buffer, off_t at) {
  return ::pread(in, buffer.data(), buffer.size(), at);
}
/// The call by which a cached read is tried: what it costs beside pread() is the kernel's.
ssize_t read_without_waiting(int in, std::span<std::byte> buffer, off_t at) {
  const iovec one{buffer.data(), buffer.size()};
  return ::preadv2(in, &one, 1, at, RWF_NOWAIT);
}

double loop_of(ssize_t (*read)(int, std::span<std::byte>, off_t)) {
  const std::string path = data_file();
  warm_up(path);
  const int in = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::vector<std::byte> buffer(block);
  random_blocks places(1);
  long reads = 0;
  const auto start = clock::now();
  while (clock::now() - start < span) {
    for (int i = 0; i < between_looks; ++i, ++reads) {
      const auto at = static_cast<off_t>(places.next());
      if (read(in, buffer, at) != static_cast<ssize_t>(block)) {
        throw std::runtime_error("a short read");
      }
    }
  }
  const double rate = per_second(reads, start);
  ::close(in);
  return rate;
}

/// Each as long as the buffer, which is a span or a part of a registered one.
template <class Bytes>
task<long> read_blocks(io::file& source, Bytes buffer, std::uint64_t seed,
                       clock::time_point until) {
  random_blocks places(seed, buffer.size());
  const int rounds = std::max(1, static_cast<int>(between_looks * block / buffer.size()));
  long reads = 0;
  while (clock::now() < until) {
    for (int i = 0; i < rounds; ++i, ++reads) {
      const std::size_t got = co_await source.read_at(buffer, places.next());
      if (got != buffer.size()) throw std::runtime_error("a short read");
    }
  }
  co_return reads;
}

double cached() {
  const std::string path = data_file();
  warm_up(path);
  runtime_options options;
  options.min_threads = 1;
  runtime rt(options);
  io::install(rt);
  return sync_wait(rt.workers(), [](std::string where) -> task<double> {
    io::file source = co_await io::file::open(where);
    std::vector<std::byte> buffer(block);
    const auto start = clock::now();
    const long reads = co_await read_blocks(source, std::span(buffer), 1, start + span);
    co_return per_second(reads, start);
  }(path));
}

/// CPU of this process, with the kernel's threads that work for it.
double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

class direct_reads {
 public:
  long count = 0;
  double per_second = 0;
  double cpu_us_each = 0;
};

/// @tparam Buffer  aligned_buffer or registered_buffer
template <class Buffer>
task<direct_reads> read_direct(std::string path, std::uint64_t depth, std::size_t size) {
  io::open_options direct;
  direct.direct = true;
  io::file source = co_await io::file::open(path, direct);
  Buffer buffers(depth * size);
  direct_reads sum;
  const double cpu = cpu_seconds();
  const auto start = clock::now();
  co_await with_scope([&](task_scope& scope) -> task<void> {
    for (std::uint64_t i = 0; i < depth; ++i) {
      scope.spawn([](io::file& in, auto buffer, std::uint64_t seed, clock::time_point until,
                     long& count) -> task<void> {
        count += co_await read_blocks(in, buffer, seed, until);
      }(source, buffers.bytes().subspan(i * size, size), i + 1, start + span, sum.count));
    }
    co_return;
  });
  sum.per_second = per_second(sum.count, start);
  sum.cpu_us_each = (cpu_seconds() - cpu) * 1e6 / static_cast<double>(sum.count);
  co_return sum;
}

template <class Buffer = io::aligned_buffer>
direct_reads direct(std::uint64_t depth, std::size_t size = block) {
  const std::string path = data_file();
  runtime_options options;
  options.min_threads = 1;
  runtime rt(options);
  io::completion_pool& pool = io::install(rt);
  return sync_wait(pool.thread(0).executor(), read_direct<Buffer>(path, depth, size));
}

bench_case long_direct_read(std::string name, std::string input, bool is_registered,
                            std::size_t size) {
  const auto sample = [is_registered, size](int) {
    constexpr std::uint64_t depth = 16;
    return is_registered ? direct<io::registered_buffer>(depth, size).cpu_us_each
                         : direct(depth, size).cpu_us_each;
  };
  return {std::move(name),
          is_registered ? "tandem_registered" : "tandem",
          "self",
          "us/read",
          "lower",
          std::move(input),
          {1},
          sample};
}

/// MiB a second, into a file that was not there; it is gone afterwards.
template <class Copy>
double rate_of_copy(Copy copy) {
  const std::string path = data_file();
  warm_up(path);
  const std::string target = path + ".copy";
  ::unlink(target.c_str());
  const auto start = clock::now();
  copy(path, target);
  const std::chrono::duration<double> taken = clock::now() - start;
  ::unlink(target.c_str());
  return static_cast<double>(file_bytes >> 20) / taken.count();
}

task<void> copy_file(std::string path, std::string target) {
  io::open_options written(io::open_mode::write);
  written.create = true;
  io::file from = co_await io::file::open(path);
  io::file to = co_await io::file::open(target, written);
  if (co_await io::copy(from, to) != file_bytes) throw std::runtime_error("a short copy");
}

void copy_by_tandem(const std::string& path, const std::string& target) {
  runtime_options options;
  options.min_threads = 1;
  runtime rt(options);
  sync_wait(rt.workers(), copy_file(path, target));
}

void copy_by_cp(const std::string& path, const std::string& target) {
  const std::string command = "cp --reflink=never '" + path + "' '" + target + "'";
  if (std::system(command.c_str()) != 0) throw std::runtime_error("cp failed");  // NOLINT
}

}  // namespace

std::vector<bench_case> file_cases() {
  const char* const whole = "256 MiB from the page cache into a new file";
  const char* const places = "4 KiB at random places of 256 MiB";
  const char* const short_ones = "CPU of a direct read of 64 KiB, 16 at a time";
  const char* const long_ones = "CPU of a direct read of 1 MiB, 16 at a time";
  constexpr std::size_t kib = 1024;
  return {
      {"pread_cached",
       "tandem",
       "self",
       "reads/s",
       "higher",
       places,
       {1},
       [](int) { return cached(); }},
      {"pread_cached",
       "pread",
       "floor",
       "reads/s",
       "higher",
       places,
       {1},
       [](int) { return loop_of(&read_plain); }},
      {"pread_cached",
       "preadv2_nowait",
       "floor",
       "reads/s",
       "higher",
       places,
       {1},
       [](int) { return loop_of(&read_without_waiting); }},
      {"direct_read",
       "tandem",
       "self",
       "reads/s",
       "higher",
       places,
       {1},
       [](int) { return direct(32).per_second; }},
      long_direct_read("direct_64k", short_ones, false, 64 * kib),
      long_direct_read("direct_64k", short_ones, true, 64 * kib),
      long_direct_read("direct_1m", long_ones, false, 1024 * kib),
      long_direct_read("direct_1m", long_ones, true, 1024 * kib),
      {"file_copy",
       "tandem",
       "self",
       "MiB/s",
       "higher",
       whole,
       {1},
       [](int) { return rate_of_copy(copy_by_tandem); }},
      {"file_copy",
       "cp",
       "peer",
       "MiB/s",
       "higher",
       whole,
       {1},
       [](int) { return rate_of_copy(copy_by_cp); }},
  };
}

}  // namespace tandem::bench
