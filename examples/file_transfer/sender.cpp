// sender.cpp: the window, the trains and the losses of a transfer.
// SPDX-License-Identifier: MIT
#include "sender.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <stdexcept>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/timeout.hpp>

namespace transfer {

namespace io = tandem::io;
using namespace std::chrono_literals;
using tandem::task;

namespace {

/// @throws  std::runtime_error: there are no numbers for so many
std::uint32_t count_of(std::uint64_t file_bytes) {
  if (file_bytes > most_file_bytes) {
    throw std::runtime_error("the file has " + std::to_string(file_bytes) +
                             " bytes, and the most that can be sent are " +
                             std::to_string(most_file_bytes));
  }
  // An empty file has one segment, so that there is something to be acknowledged.
  return (std::max)(segments_of(file_bytes), 1U);
}

constexpr std::size_t most_of_train = 50;  // 60,000 bytes, by one system call
/// So far behind one that has come, a segment was not merely overtaken.
constexpr std::uint32_t reordering = 64;
constexpr auto longest_patience = 500ms;

}  // namespace

sender::sender(io::udp_socket socket, io::file file, std::uint64_t file_bytes,
               std::chrono::milliseconds give_up_after)
    : socket_(std::move(socket)),
      file_(std::move(file)),
      count_(count_of(file_bytes)),
      give_up_after_(give_up_after),
      transfer_(std::random_device()()),
      acknowledged_(count_),
      is_lost_(count_),
      train_(most_of_train * segment_bytes) {
  totals_.file_bytes = file_bytes;
  totals_.segments = count_;
}

std::size_t sender::length_of(std::uint32_t number) const {
  const std::uint64_t begin = std::uint64_t{number} * payload_bytes;
  return static_cast<std::size_t>(
      (std::min)(std::uint64_t{payload_bytes}, totals_.file_bytes - begin));
}

task<totals> sender::run() {
  auto heard = std::chrono::steady_clock::now();
  while (first_ < count_) {
    co_await send_what_may_go();
    const bool answered = co_await hear_answers();
    const auto now = std::chrono::steady_clock::now();
    if (answered) {
      heard = now;
      continue;
    }
    if (now - heard > give_up_after_) {
      throw std::runtime_error("the receiver at " + socket_.remote_endpoint().to_string() +
                               " does not answer: " + std::to_string(first_) + " of " +
                               std::to_string(count_) + " segments are there for sure");
    }
    ++totals_.rounds_without_answer;
    patience_ = (std::min)(patience_ * 2, std::chrono::milliseconds(longest_patience));
    for (std::uint32_t i = first_; i < next_; ++i) take_as_lost(i);
    note_round(true);
  }
  co_await say_farewell();
  co_return totals_;
}

/// So that the receiver need not wait; if all three are lost it does.
task<void> sender::say_farewell() {
  header what;
  what.what = kind::farewell;
  what.transfer = transfer_;
  what.number = count_;
  what.file_bytes = totals_.file_bytes;
  std::array<std::byte, header_bytes> bytes{};
  write_header(what, bytes);
  for (int i = 0; i < 3; ++i) (void)co_await tandem::as_result(socket_.send(bytes));
}

task<void> sender::send_what_may_go() {
  std::vector<std::uint32_t> numbers;
  // No further ahead than an acknowledgement can tell of.
  const std::uint32_t end = first_ + (std::min<std::uint32_t>)(count_ - first_, map_bits);
  while (in_flight_ < window_ && (!lost_.empty() || next_ < end)) {
    if (lost_.empty()) {
      numbers.push_back(next_++);
    } else {
      const std::uint32_t again = lost_.front();
      lost_.pop_front();
      is_lost_[again] = false;
      if (acknowledged_[again]) continue;  // it had come after all
      numbers.push_back(again);
      ++totals_.sent_again;
    }
    ++in_flight_;
    // The last one of a file may be shorter, and so is the last one of its train.
    if (numbers.size() == most_of_train || numbers.back() == count_ - 1) {
      co_await send_train(numbers);
      numbers.clear();
    }
  }
  if (!numbers.empty()) co_await send_train(numbers);
}

task<void> sender::send_train(std::span<const std::uint32_t> numbers) {
  std::size_t bytes = 0;
  header what;
  what.transfer = transfer_;
  what.file_bytes = totals_.file_bytes;
  for (const std::uint32_t each : numbers) {
    const auto to = std::span(train_).subspan(bytes);
    what.number = each;
    write_header(what, to);
    const std::size_t length = length_of(each);
    co_await file_.read_exactly_at(to.subspan(header_bytes, length),
                                   std::uint64_t{each} * payload_bytes);
    bytes += header_bytes + length;
  }
  // That nobody listens yet is told here; it is waited for as if it were lost.
  auto sent =
      co_await tandem::as_result(socket_.send_train(std::span(train_).first(bytes), segment_bytes));
  if (!sent && sent.error() != std::errc::connection_refused) std::move(sent).value();
}

task<bool> sender::hear_answers() {
  const std::uint32_t before = first_;
  const auto until = std::chrono::steady_clock::now() + patience_;
  while (true) {
    auto got = co_await tandem::as_result(tandem::with_deadline(until, socket_.receive()));
    if (!got) {
      if (got.error() == std::errc::timed_out) co_return false;
      if (got.error() != std::errc::connection_refused) std::move(got).value();
      continue;
    }
    bool is_ours = false;
    for (const auto each : got.value().segments()) {
      const auto said = read_header(each);
      if (!said || said->what != kind::acknowledgement || said->transfer != transfer_) continue;
      if (each.size() < header_bytes + arrival_map::bytes) continue;
      note(*said, arrival_map::of(each.subspan(header_bytes)));
      is_ours = true;
    }
    if (!is_ours) continue;
    if (first_ != before) patience_ = 20ms;
    co_return true;
  }
}

void sender::note(const header& said, const arrival_map& map) {
  const auto acknowledge = [this](std::uint32_t number) {
    if (acknowledged_[number]) return;
    acknowledged_[number] = true;
    if (!is_lost_[number]) --in_flight_;
  };
  if (said.number > next_) return;  // of what was never sent: it is of somebody else
  for (std::uint32_t i = first_; i < said.number; ++i) acknowledge(i);
  first_ = (std::max)(first_, said.number);
  std::uint32_t furthest = first_;
  for (std::uint32_t i = 0; i < map_bits && said.number + i < next_; ++i) {
    if (!map.has(i)) continue;
    acknowledge(said.number + i);
    furthest = said.number + i;
  }
  bool has_lost = false;
  for (std::uint32_t i = first_; i + reordering < furthest; ++i) {
    if (acknowledged_[i] || is_lost_[i]) continue;
    take_as_lost(i);
    has_lost = true;
  }
  note_round(has_lost);
}

void sender::take_as_lost(std::uint32_t number) {
  if (acknowledged_[number] || is_lost_[number]) return;
  is_lost_[number] = true;
  lost_.push_back(number);
  --in_flight_;
}

void sender::note_round(bool has_lost) {
  if (has_lost) {
    threshold_ = (std::max)(window_ / 2, 8U);
    window_ = threshold_;
  } else if (window_ < threshold_) {
    window_ = (std::min<std::uint32_t>)(2 * window_, map_bits);
  } else {
    window_ = (std::min<std::uint32_t>)(window_ + 8, map_bits);
  }
}

}  // namespace transfer
