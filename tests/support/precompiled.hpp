// precompiled.hpp: what nearly every test includes and nobody here changes: parsed once in a build.
// SPDX-License-Identifier: MIT
//
// GoogleTest and the standard library only. A header of tandem's in here would hide a missing
// include, and a change of it would rebuild every test. Test sources include what they use all the
// same: gcc-debug builds them without this file.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <ranges>
#include <semaphore>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>
