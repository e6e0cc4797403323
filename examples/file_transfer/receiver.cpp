// receiver.cpp: what has come is written at once, and told.
// SPDX-License-Identifier: MIT
#include "receiver.hpp"

#include <algorithm>
#include <iostream>
#include <tandem/as_result.hpp>
#include <tandem/timeout.hpp>

namespace transfer {

namespace io = tandem::io;
using tandem::task;

task<std::uint64_t> receiver::run(std::chrono::milliseconds linger) {
  while (!is_whole()) {
    const io::received_datagram got = co_await socket_.receive();
    co_await keep(got);
  }
  co_await file_.sync_data();
  file_.close();
  while (true) {
    auto late = co_await tandem::as_result(tandem::with_timeout(linger, socket_.receive()));
    if (!late) {
      if (late.error() == std::errc::timed_out) co_return file_bytes_;
      std::move(late).value();
    }
    const auto said = read_header(late.value().bytes());
    if (!said || said->transfer != *transfer_) continue;
    if (said->what == kind::farewell) co_return file_bytes_;
    co_await answer();
  }
}

task<void> receiver::begin(const header& first, const io::endpoint& from) {
  file_ = co_await io::file::open(path_, io::open_options::overwrite());
  co_await file_.truncate(first.file_bytes);
  transfer_ = first.transfer;
  sender_ = from;
  file_bytes_ = first.file_bytes;
  come_.assign((std::max)(segments_of(file_bytes_), 1U), false);
}

bool receiver::may_begin(std::uint64_t file_bytes) {
  if (file_bytes <= (std::min)(most_bytes_, most_file_bytes)) return true;
  if (!has_refused_) {
    std::cerr << "refused a file of " << file_bytes << " bytes: more than --most-bytes, "
              << most_bytes_ << std::endl;
  }
  has_refused_ = true;  // said once: an offer costs its sender nothing
  return false;
}

bool receiver::is_new(std::uint32_t number, std::size_t length) const {
  if (number >= come_.size() || come_[number]) return false;
  const std::uint64_t begin = std::uint64_t{number} * payload_bytes;
  return length == (std::min)(std::uint64_t{payload_bytes}, file_bytes_ - begin);
}

task<void> receiver::keep(const io::received_datagram& got) {
  std::vector<std::span<const std::byte>> run;
  std::uint32_t first = 0;
  bool is_of_sender = false;
  for (const auto each : got.segments()) {
    const auto said = read_header(each);
    if (!said || said->what != kind::data) continue;
    if (!transfer_) {
      if (!may_begin(said->file_bytes)) continue;
      co_await begin(*said, got.sender());
    }
    if (said->transfer != *transfer_) continue;
    is_of_sender = true;
    const auto payload = std::span<const std::byte>(each).subspan(header_bytes);
    if (!is_new(said->number, payload.size())) continue;
    if (!run.empty() && said->number != first + run.size()) {
      co_await write(first, run);
      run.clear();
    }
    if (run.empty()) first = said->number;
    run.push_back(payload);
    come_[said->number] = true;
  }
  if (!run.empty()) co_await write(first, run);
  while (missing_ < come_.size() && come_[missing_]) ++missing_;
  if (is_of_sender) co_await answer();
}

task<void> receiver::write(std::uint32_t first, std::span<const std::span<const std::byte>> parts) {
  co_await file_.write_all_at(parts, std::uint64_t{first} * payload_bytes);
}

task<void> receiver::answer() {
  std::array<std::byte, header_bytes + arrival_map::bytes> bytes{};
  header what;
  what.what = kind::acknowledgement;
  what.transfer = *transfer_;
  what.number = missing_;
  what.file_bytes = file_bytes_;
  write_header(what, bytes);
  arrival_map map;
  for (std::size_t i = 0; i < map_bits && missing_ + i < come_.size(); ++i) {
    if (come_[missing_ + i]) map.set(i);
  }
  std::ranges::copy(map.as_bytes(), bytes.begin() + header_bytes);
  (void)co_await tandem::as_result(socket_.send_to(bytes, sender_));  // it may be lost all the same
}

}  // namespace transfer
