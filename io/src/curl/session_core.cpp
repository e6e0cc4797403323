// session_core.cpp: how transfers begin and end in a session, and how it ends itself.
// SPDX-License-Identifier: MIT
#include "curl/session_core.hpp"

#include <algorithm>
#include <tandem/as_result.hpp>
#include <tandem/clock.hpp>
#include <tandem/io/read_file.hpp>
#include <tandem/io/write_file.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/stop.hpp>
#include <tandem/with_stop.hpp>
#include <utility>

#include "curl/failure.hpp"
#include "curl/inside.hpp"
#include "curl/set_up.hpp"

namespace tandem::inline v0::io::curl {

namespace {

constexpr std::size_t most_spare_handles = 64;

share_handle make_share(const session_options& options) {
  share_handle made = made_or_no_memory<share_handle>(curl_share_init());
  // One thread uses it, so it needs no lock functions.
  curl_share_setopt(made.get(), CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  if (options.cookies != cookie_policy::off) {
    curl_share_setopt(made.get(), CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
  }
  return made;
}

std::chrono::milliseconds since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(tandem::now() - begun);
}

void add_one(std::atomic<std::uint64_t>& counter) noexcept {
  counter.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

session_core::session_core(foreign_loop& loop, session_options options)
    : home_(&loop.executor()),
      options_(std::move(options)),
      share_((start_library(), make_share(options_))),
      driver_(loop, *this),
      names_(options_.name_cache) {
  set_up(driver_.multi(), options_);
}

session_stats session_core::stats() const noexcept {
  session_stats now;
  now.requests = requests_.load(std::memory_order_relaxed);
  now.names_asked = names_asked_.load(std::memory_order_relaxed);
  now.connections_opened = driver_.opened();
  now.wake_ups = driver_.wake_ups();
  return now;
}

void session_core::check_open(const request& what) const {
  if (!is_closing_) return;
  throw error(errc::session_ended, "with_session() has ended", without_password(what.url));
}

// curl_session/begin
task<void> session_core::start(handle core, exchange_handle begun) {
  co_await resume_on(core->home());
  core->check_open(begun->asked);
  const visit inside(*core);
  const auto since_when = tandem::now();
  std::optional<host_name> name = name_to_ask(begun->asked.url, core->options_.proxy);
  if (name) {
    co_await core->look_up(*begun, std::move(*name));
    core->check_open(begun->asked);
  }
  core->add(*begun, since(since_when));
}

task<void> session_core::look_up(exchange& transfer, host_name name) {
  auto limit = transfer.limits.connect;
  if (transfer.limits.total) limit = std::min(limit, *transfer.limits.total);
  // A resolver may take its time, which the end of the session does not wait for.
  auto asked = with_stop(closing_.get_token(), names_.find(name, limit, transfer.asked.url));
  result<std::string> found = co_await as_result(std::move(asked));
  names_asked_.store(names_.asked(), std::memory_order_relaxed);
  if (found.is_cancelled() && !stop_requested()) check_open(transfer.asked);
  const std::string line = std::move(found).value();
  curl_slist* const list = curl_slist_append(nullptr, line.c_str());
  if (list == nullptr) throw std::bad_alloc();
  transfer.address_lines.reset(list);
}

void session_core::add(exchange& begun, std::chrono::milliseconds spent) {
  begun.easy = new_handle();
  list(begun);
  set_up(begun.easy.get(), begun, options_, spent);
  if (!driver_.adopt(begun.easy.get())) throw std::bad_alloc();
  const CURLMcode code = curl_multi_add_handle(driver_.multi(), begun.easy.get());
  if (code == CURLM_OUT_OF_MEMORY) throw std::bad_alloc();
  if (code != CURLM_OK) {
    throw error(errc::failed, curl_multi_strerror(code), without_password(begun.asked.url));
  }
  add_one(requests_);
  begun.is_added = true;
  driver_.settle();
}

void session_core::list(exchange& begun) noexcept {
  begun.is_listed = true;
  begun.previous = nullptr;
  begun.next = std::exchange(first_, &begun);
  if (begun.next != nullptr) begun.next->previous = &begun;
}

easy_handle session_core::new_handle() {
  if (!spare_.empty()) {
    easy_handle used = std::move(spare_.back());
    spare_.pop_back();
    return used;
  }
  easy_handle made = made_or_no_memory<easy_handle>(curl_easy_init());
  check_option(curl_easy_setopt(made.get(), CURLOPT_SHARE, share_.get()), "CURLOPT_SHARE", "");
  return made;
}

void session_core::detach(exchange& over) noexcept {
  if (!std::exchange(over.is_added, false)) return;
  curl_multi_remove_handle(driver_.multi(), over.easy.get());
}

void session_core::unlist(exchange& over) noexcept {
  if (!std::exchange(over.is_listed, false)) return;
  (over.previous != nullptr ? over.previous->next : first_) = over.next;
  if (over.next != nullptr) over.next->previous = over.previous;
  over.previous = over.next = nullptr;
}

/// As a new one. @returns  false if it cannot be used again
bool session_core::reset(CURL* easy) const noexcept {
  if (options_.cookies == cookie_policy::off) {
    curl_easy_reset(easy);
    return true;
  }
  // curl_easy_reset() loses the list of files (7.88), and emptying that leaves the session's cookies.
  curl_easy_setopt(easy, CURLOPT_COOKIEFILE, static_cast<const char*>(nullptr));
  curl_easy_reset(easy);
  return curl_easy_setopt(easy, CURLOPT_SHARE, share_.get()) == CURLE_OK;
}

void session_core::take_out(exchange& over) noexcept {
  const bool was_under_way = over.is_added;
  detach(over);
  unlist(over);
  if (over.easy == nullptr) return;
  const bool is_spare = reset(over.easy.get());
  if (!is_spare || is_closing_ || spare_.size() >= most_spare_handles) {
    over.easy.reset();
  } else {
    try {
      spare_.push_back(std::move(over.easy));
    } catch (...) {
      over.easy.reset();
    }
  }
  over.fail(errc::session_ended, "the transfer was broken off");
  if (was_under_way) driver_.settle();
}

void session_core::transfer_ended(CURL* easy, CURLcode outcome) noexcept {
  char* at = nullptr;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &at);
  exchange& over = *static_cast<exchange*>(static_cast<void*>(at));
  detach(over);
  over.ended(outcome);
}

void session_core::all_failed(const std::exception_ptr& why) noexcept {
  for (exchange* each = first_; each != nullptr; each = each->next) {
    detach(*each);
    each->fail(why);
  }
  if (!driver_.is_spoilt()) return;
  driver_.renew();
  try {
    set_up(driver_.multi(), options_);
  } catch (const std::exception&) {  // there is no handle: each transfer says so
    return;
  }
}

// curl_session/drop
void session_core::drop(exchange_handle broken_off) noexcept {
  const std::lock_guard guard(lock_);
  if (is_shut_) return;
  exchange& last = *broken_off;
  last.next_dropped = std::exchange(dropped_, std::move(broken_off));
  dropped_some_.set();
}

void session_core::take_out_dropped() noexcept {
  exchange_handle each;
  {
    const std::lock_guard guard(lock_);
    each = std::exchange(dropped_, nullptr);
  }
  while (each != nullptr) {
    take_out(*each);
    each = std::exchange(each->next_dropped, nullptr);
  }
}

task<void> session_core::serve() {
  while (!is_closing_) {
    co_await dropped_some_.wait();
    dropped_some_.reset();
    take_out_dropped();
  }
}

void session_core::stop_serving() noexcept {
  is_closing_ = true;
  closing_.request_stop();
  dropped_some_.set();
}

task<void> session_core::begin() {
  if (options_.cookies != cookie_policy::file) co_return;
  co_await read_cookies();
}

// curl_session/end
task<void> session_core::end() {
  stop_serving();
  for (exchange* each = first_; each != nullptr; each = each->next) {
    detach(*each);
    each->fail(errc::session_ended, "with_session() has ended");
  }
  while (inside_ != 0) {
    nobody_inside_.reset();
    co_await nobody_inside_.wait();
  }
  result<void> written;
  if (options_.cookies == cookie_policy::file) written = co_await as_result(write_cookies());
  shut();
  written.value();
}

void session_core::shut() noexcept {
  is_closing_ = true;
  exchange_handle dropped;
  {
    const std::lock_guard guard(lock_);
    if (std::exchange(is_shut_, true)) return;
    dropped = std::exchange(dropped_, nullptr);
  }
  while (dropped != nullptr) {
    take_out(*dropped);
    dropped = std::exchange(dropped->next_dropped, nullptr);
  }
  while (first_ != nullptr) take_out(*first_);
  spare_.clear();
  cookie_keeper_.reset();
  driver_.end();
  share_.reset();
}

// What is stored is curl's own text; reading and writing it is not, since that would block.
task<void> session_core::read_cookies() {
  cookie_keeper_ = new_handle();
  CURL* const keeper = cookie_keeper_.get();
  check_option(curl_easy_setopt(keeper, CURLOPT_COOKIEFILE, ""), "CURLOPT_COOKIEFILE", "");
  result<std::string> found = co_await as_result(read_file(options_.cookie_file.string()));
  if (found.error() == std::errc::no_such_file_or_directory) co_return;
  if (!found.has_value()) refuse_cookie_file("cannot be read", found.exception());
  const std::string text = std::move(found).value();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.empty() || (line.starts_with('#') && !line.starts_with("#HttpOnly_"))) continue;
    check_option(curl_easy_setopt(keeper, CURLOPT_COOKIELIST, line.c_str()), "CURLOPT_COOKIELIST",
                 "");
  }
}

task<void> session_core::write_cookies() {
  curl_slist* listed = nullptr;
  check_option(curl_easy_getinfo(cookie_keeper_.get(), CURLINFO_COOKIELIST, &listed),
               "CURLINFO_COOKIELIST", "");
  const text_list owned(listed);
  std::string text = "# Netscape HTTP Cookie File\n\n";
  for (const curl_slist* each = listed; each != nullptr; each = each->next) {
    text.append(each->data).push_back('\n');
  }
  write_options options;
  options.permissions = 0600;
  const result<void> written = co_await as_result(
      write_file(options_.cookie_file.string(), std::string_view(text), options));
  if (!written.has_value()) refuse_cookie_file("cannot be written", written.exception());
}

/// What the system has said becomes an error that names the file; anything else is thrown as it is.
void session_core::refuse_cookie_file(const char* what, const std::exception_ptr& why) const {
  try {
    std::rethrow_exception(why);
  } catch (const operation_cancelled&) {
    throw;
  } catch (const std::system_error& failure) {
    throw error(errc::bad_option,
                "session_options::cookie_file: " + options_.cookie_file.string() + " " + what +
                    ": " + failure.code().message(),
                "");
  }
}

}  // namespace tandem::inline v0::io::curl
