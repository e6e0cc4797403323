// item_stream_cases.cpp: the rows of streams: how their items are taken, and each stage.
// SPDX-License-Identifier: MIT
#include <functional>
#include <tandem/streams.hpp>
#include <utility>
#include <vector>

#include "case_of.hpp"

namespace tandem::registry {
namespace item_stream_rows {  // not an unnamed one: g++ warns of frames that hold such types

/// A stream of one item, which waits at the gate.
class stream_case : public gated_case {
 protected:
  stream<int> items(counted /*here*/ = {}) { co_yield co_await child(); }
  stream<int> others(counted /*here*/ = {}) { co_yield co_await other(); }
  /// 7 if the stream has one such item.
  static task<int> only(stream<int> made) {
    return streams::fold(std::move(made), 0, std::plus<>());
  }
};

class with_stream_case : public stream_case {
 public:
  static constexpr std::string_view name = "with_stream";
  using awaiters = covers<task<int>::awaiter>;
  auto make() {
    return with_stream(items(), [this](auto& lent) -> task<int> {
      const int first = *co_await lent.next();
      co_await plain();
      co_return first;
    });
  }
};

class next_item_case : public stream_case {
 public:
  static constexpr std::string_view name = "stream_items::next";
  using awaiters = covers<next_item_awaiter<int>>;
  auto make() {
    return with_stream(items(), [](auto& lent) -> task<int> {
      [[maybe_unused]] auto dropped = lent.next();
      const int* const first = co_await lent.next();
      co_return *first;
    });
  }
};

class for_each_case : public stream_case {
 public:
  static constexpr std::string_view name = "for_each";
  using awaiters = covers<task<void>::awaiter>;
  auto make() {
    return for_each(items(), [this](int item) -> task<flow> {
      EXPECT_EQ(item, 7);
      co_await plain();
      co_return flow::leave;
    });
  }
};

class fold_case : public stream_case {
 public:
  static constexpr std::string_view name = "streams::fold";
  using awaiters = covers<task<int>::awaiter>;
  auto make() { return only(items()); }
};

class collect_case : public stream_case {
 public:
  static constexpr std::string_view name = "streams::collect";
  using awaiters = covers<task<std::vector<int>>::awaiter>;
  auto make() { return streams::collect(items()); }
  ended took(const std::vector<int>& got) {
    EXPECT_EQ(got, std::vector<int>(1, 7));
    return ended::returned;
  }
};

class map_case : public stream_case {
 public:
  static constexpr std::string_view name = "streams::map";
  using awaiters = covers<detail::stream_step<int>>;
  auto make() {
    return only(others() | streams::map([this](int) { return child(); }));
  }
};

class filter_case : public stream_case {
 public:
  static constexpr std::string_view name = "streams::filter";
  using awaiters = covers<>;
  auto make() {
    return only(others() | streams::filter([this](int) -> task<bool> {
                  co_await plain();
                  co_return true;
                }));
  }
};

class take_case : public stream_case {
 public:
  static constexpr std::string_view name = "streams::take";
  using awaiters = covers<detail::stream_leave, detail::end_with>;
  auto make() { return only(twice() | streams::take(1)); }

 private:
  stream<int> twice() {
    co_yield elements_of(items());
    co_yield elements_of(others());
  }
};

class take_while_case : public stream_case {
 public:
  static constexpr std::string_view name = "streams::take_while";
  using awaiters = covers<detail::plain_item_call<int, bool (*)(int)>>;
  auto make() {
    return only(items() | streams::take_while([](int item) { return item == 7; }));
  }
};

class skip_case : public stream_case {
 public:
  static constexpr std::string_view name = "streams::skip";
  using awaiters = covers<>;
  auto make() { return only(items() | streams::skip(0)); }
};

class flat_map_case : public stream_case {
 public:
  static constexpr std::string_view name = "streams::flat_map";
  using awaiters = covers<>;
  auto make() {
    return only(others() | streams::flat_map([this](int) { return items(); }));
  }
};

class timeout_case : public stream_case {
 public:
  static constexpr std::string_view name = "streams::timeout";
  using awaiters = covers<detail::stream_limited_step<int>>;
  auto make() { return only(items() | streams::timeout(std::chrono::hours(9))); }
};

class finally_case : public stream_case {
 public:
  static constexpr std::string_view name = "streams::finally";
  using awaiters = covers<>;
  auto make() {
    return only(items() | streams::finally([this] { ++cleaned_; }));
  }

 private:
  std::atomic<int> cleaned_{0};
};

class zip_case : public stream_case {
 public:
  static constexpr std::string_view name = "streams::zip";
  using awaiters = covers<>;
  auto make() {
    return only(streams::zip(items(), others()) |
                streams::map([](const std::pair<int, int>& both) { return both.second; }));
  }
};

class chunks_case : public stream_case {
 public:
  static constexpr std::string_view name = "streams::chunks";
  using awaiters = covers<>;
  auto make() {
    return only(items() | streams::chunks(3) |
                streams::flat_map([](std::vector<int> chunk) { return chunk; }));
  }
};

class timed_chunks_case : public stream_case {
 public:
  static constexpr std::string_view name = "streams::chunks by time";
  using awaiters = covers<detail::current_home>;
  auto make() {
    return only(items() | streams::chunks(3, std::chrono::hours(9)) |
                streams::flat_map([](std::vector<int> chunk) { return chunk; }));
  }
};

class merge_case : public stream_case {
 public:
  static constexpr std::string_view name = "streams::merge";
  using awaiters = covers<>;
  auto make() { return only(streams::merge(items(), others() | streams::skip(1))); }
};

class buffered_case : public stream_case {
 public:
  static constexpr std::string_view name = "streams::buffered";
  using awaiters = covers<>;
  auto make() {
    return only(others() | streams::buffered(3, [this](int) { return child(); }));
  }
};

class buffered_unordered_case : public stream_case {
 public:
  static constexpr std::string_view name = "streams::buffered_unordered";
  using awaiters = covers<>;
  auto make() {
    return only(items() | streams::buffered_unordered(2, [this](int) { return other(); }));
  }
};

using taking = ::testing::Types<with_stream_case, next_item_case, for_each_case, fold_case,
                                collect_case, map_case, filter_case, take_case, take_while_case,
                                skip_case, flat_map_case, timeout_case, finally_case, zip_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(streams, awaitable, taking, case_names);
using pumped = ::testing::Types<chunks_case, timed_chunks_case, merge_case, buffered_case,
                                buffered_unordered_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(pumped_streams, awaitable, pumped, case_names);

}  // namespace item_stream_rows
}  // namespace tandem::registry
