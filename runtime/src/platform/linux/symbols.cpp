// symbols.cpp: names of code by the library of elfutils, where that is installed; else module and offset.
// SPDX-License-Identifier: MIT
//
// dladdr() knows exported names only, and no coroutine's resume function is one. elfutils reads
// .symtab and DWARF. It is opened when somebody asks for the first name, so that no program has to
// be linked with it; no server is ever asked for debug information.
#include "platform/symbols.hpp"

#include <dlfcn.h>
#include <unistd.h>

#if TANDEM_HAS_ELFUTILS
#include <elfutils/libdwfl.h>
#endif

namespace tandem::inline v0::platform {

#if TANDEM_HAS_ELFUTILS

namespace {

/// The functions of libdw that are used.
struct libdw {
  decltype(&::dwfl_begin) begin = nullptr;
  decltype(&::dwfl_end) end = nullptr;
  decltype(&::dwfl_linux_proc_report) report = nullptr;
  decltype(&::dwfl_report_end) report_end = nullptr;
  decltype(&::dwfl_addrmodule) module_of = nullptr;
  decltype(&::dwfl_module_addrname) name_of = nullptr;
  decltype(&::dwfl_module_getsrc) source_of = nullptr;
  decltype(&::dwfl_lineinfo) line_of = nullptr;
  decltype(&::dwfl_linux_proc_find_elf) find_elf = nullptr;
  decltype(&::dwfl_build_id_find_debuginfo) find_debuginfo = nullptr;

  bool load() noexcept {
    void* const library = ::dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
    const auto take = [library](auto& into, const char* name) {
      into = reinterpret_cast<std::remove_reference_t<decltype(into)>>(  // NOLINT
          ::dlsym(library, name));
      return into != nullptr;
    };
    return take(begin, "dwfl_begin") && take(end, "dwfl_end") &&
           take(report, "dwfl_linux_proc_report") && take(report_end, "dwfl_report_end") &&
           take(module_of, "dwfl_addrmodule") && take(name_of, "dwfl_module_addrname") &&
           take(source_of, "dwfl_module_getsrc") && take(line_of, "dwfl_lineinfo") &&
           take(find_elf, "dwfl_linux_proc_find_elf") &&
           take(find_debuginfo, "dwfl_build_id_find_debuginfo");
  }
};

const libdw* loaded_libdw() noexcept {
  static libdw functions;
  static const bool is_there = functions.load();
  return is_there ? &functions : nullptr;
}

}  // namespace

struct symbols::session {
  session() {
    if (dw == nullptr) return;
    callbacks.find_elf = dw->find_elf;
    callbacks.find_debuginfo = dw->find_debuginfo;
    modules = dw->begin(&callbacks);
    if (modules == nullptr) return;
    (void)dw->report(modules, ::getpid());
    (void)dw->report_end(modules, nullptr, nullptr);
  }
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  ~session() {
    if (modules != nullptr) dw->end(modules);
  }

  void find(const void* code, code_place& into) const {
    if (modules == nullptr) return;
    const auto address = reinterpret_cast<Dwarf_Addr>(code);  // NOLINT
    ::Dwfl_Module* const in = dw->module_of(modules, address);
    if (in == nullptr) return;
    if (const char* const name = dw->name_of(in, address)) into.symbol = name;
    ::Dwfl_Line* const source = dw->source_of(in, address);
    if (source == nullptr) return;
    int line = 0;
    const char* const file = dw->line_of(source, nullptr, &line, nullptr, nullptr, nullptr);
    if (file == nullptr) return;
    into.file = file;
    into.line = line;
  }

  const libdw* const dw = loaded_libdw();
  ::Dwfl_Callbacks callbacks{};
  ::Dwfl* modules = nullptr;
};

#else

struct symbols::session {
  void find(const void* /*code*/, code_place& /*into*/) const {}
};

#endif

symbols::symbols() = default;
symbols::~symbols() = default;

code_place symbols::find(const void* code) {
  code_place out;
  if (code == nullptr) return out;
  if (session_ == nullptr) session_ = std::make_unique<session>();
  session_->find(code, out);
  ::Dl_info known{};
  if (::dladdr(code, &known) != 0) {
    if (known.dli_fname != nullptr) out.module = known.dli_fname;
    out.offset = reinterpret_cast<std::uintptr_t>(code) -            // NOLINT
                 reinterpret_cast<std::uintptr_t>(known.dli_fbase);  // NOLINT
    if (out.symbol.empty() && known.dli_sname != nullptr && known.dli_saddr == code) {
      out.symbol = known.dli_sname;
    }
  }
  return out;
}

}  // namespace tandem::inline v0::platform
