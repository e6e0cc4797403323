// settings.cpp: the command line.
// SPDX-License-Identifier: MIT
#include "settings.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "plot.hpp"

namespace monitor {

namespace {

using namespace std::chrono_literals;

CLI::Option* add_duration(CLI::App& app, const std::string& name, std::chrono::nanoseconds& out,
                          const std::string& help) {
  return app
      .add_option_function<std::string>(
          name, [&out](const std::string& text) { out = *duration_of(text); }, help)
      ->check([](const std::string& text) {
        return duration_of(text) ? std::string()
                                 : "\"" + text + "\" is no duration such as 3s, 500ms or 20us";
      })
      ->type_name("TIME");
}

}  // namespace

settings::settings() : compute(20ms), wait(0), duration(20s) {
  pool.keep_alive = 3s;
  pool.dump_on_signal = true;
}

const char* way_of(const settings& chosen) {
  switch (chosen.pool.growth) {
    case tandem::growth_order::queue_first: return "queue first";
    case tandem::growth_order::threads_first: return "threads first";
    case tandem::growth_order::demand: break;
  }
  return chosen.pool.adaptive.enabled ? "adaptive" : "fixed";
}

std::optional<std::chrono::nanoseconds> duration_of(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 5> units{
      {{"ns", 1e0}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}}};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (error != std::errc() || !(number >= 0) || number > 1e6) return std::nullopt;
  for (const auto& [name, nanoseconds] : units) {
    if (unit == name) {
      return std::chrono::nanoseconds(static_cast<std::int64_t>(number * nanoseconds));
    }
  }
  return std::nullopt;
}

std::optional<settings> parse(int argc, char** argv, int& exit_code) {
  settings out;
  CLI::App app(
      "Feeds a worker pool and shows how its threads come and go, and why.\n"
      "Prints a line for each decision and ends by itself when the surplus has gone.");
  bool cpu = false;
  bool io = false;
  std::string adaptive = "on";
  std::string growth = to_string(out.pool.growth);
  std::chrono::nanoseconds keep_alive = out.pool.keep_alive;
  auto* const kind = app.add_option_group("load")->require_option(1);
  kind->add_flag("--cpu", cpu, "items that compute (20 ms)");
  kind->add_flag("--io", io, "items that wait (100 ms) on their worker, and compute (10 ms)");
  auto* const compute = add_duration(app, "--compute", out.compute, "computing time of an item");
  auto* const wait = add_duration(app, "--wait", out.wait, "time that an item waits");
  add_duration(app, "--duration", out.duration, "how long the load lasts [20s]");
  add_duration(app, "--pause", out.pause, "then it stops for so long, and returns");
  app.add_option("--queue", out.queue, "places in the queue, which the load keeps full")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--burst", out.burst, "so many items at once instead, and no more")
      ->check(CLI::Range(1, 10'000'000));
  app.add_option("--blocking-percent", out.blocking_percent,
                 "of the items; the others only compute")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  app.add_option("--min", out.pool.min_threads, "min_threads")->check(CLI::Range(1, 1024));
  app.add_option("--max", out.pool.max_threads, "max_threads")->check(CLI::Range(1, 1024));
  add_duration(app, "--keep-alive", keep_alive, "idle time after which a thread goes [3s]");
  app.add_option("--adaptive", adaptive, "on or off: off is a fixed pool of --min threads")
      ->check(CLI::IsMember({"on", "off"}));
  app.add_option("--growth", growth,
                 "when threads are added: demand (the controller finds how many), queue_first or "
                 "threads_first")
      ->check(CLI::IsMember({"demand", "queue_first", "threads_first"}))
      ->capture_default_str();
  app.add_option("--plot", out.plot_file, "draws what happened (.svg or .png; needs gnuplot)")
      ->check([](const std::string& file) {
        return is_drawable(file)
                   ? std::string()
                   : "\"" + file + "\" does not end in .svg or .png, or has a quote in it";
      });
  app.add_option("--json", out.json_file, "writes what happened");
  app.add_flag("--quiet", out.quiet, "only the summary");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error);
    return std::nullopt;
  }
  out.load = io ? load_kind::io : load_kind::cpu;
  if (io && compute->count() == 0) out.compute = 10ms;
  if (io && wait->count() == 0) out.wait = 100ms;
  out.pool.keep_alive = keep_alive;
  out.pool.adaptive.enabled = adaptive == "on";
  if (out.pool.max_threads < out.pool.min_threads) {
    std::fprintf(stderr, "--max %u is below --min %u\n", out.pool.max_threads,
                 out.pool.min_threads);
    exit_code = 2;
    return std::nullopt;
  }
  if (growth == "queue_first") out.pool.growth = tandem::growth_order::queue_first;
  if (growth == "threads_first") out.pool.growth = tandem::growth_order::threads_first;
  out.pool.submissions.queue = tandem::queue_kind::bounded;
  out.pool.submissions.capacity = std::max(out.queue, out.burst);
  return out;
}

}  // namespace monitor
