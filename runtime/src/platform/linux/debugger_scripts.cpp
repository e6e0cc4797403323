// debugger_scripts.cpp: the scripts for gdb, as a section of the program that gdb reads and runs.
// SPDX-License-Identifier: MIT
//
// gdb takes ".debug_gdb_scripts" of a program or library that it may trust (runtime/src/debuggers/
// README.md). The section takes no memory of a running process, and `strip` removes it. The modules
// are put into it as they are; embedded_begin.py says how they are found there.
#include "platform/linux/debugger_scripts.hpp"

namespace tandem::inline v0::platform {

#if defined(TANDEM_DEBUGGER_SCRIPTS) && defined(__ELF__)

#define TANDEM_SCRIPT(file) ".incbin \"" TANDEM_DEBUGGER_SCRIPTS "/" file "\"\n"
#define TANDEM_MODULE(name)                        \
  ".ascii \"\\n_tandem_module('tandem_debug." name \
  "', r'''\"\n" TANDEM_SCRIPT("tandem_debug/" name ".py") ".ascii \"''')\\n\"\n"

// A byte that says that a text in Python follows, its name, the text, a zero. The linker takes one
// of several that are equal.
asm(".pushsection \".debug_gdb_scripts\", \"MS\",@progbits,1\n"
    ".byte 4\n"
    ".ascii \"gdb.inlined-tandem\\n\"\n"  //
    TANDEM_SCRIPT("embedded_begin.py")
    TANDEM_MODULE("place")
    TANDEM_MODULE("words")
    TANDEM_MODULE("frames")
    TANDEM_MODULE("queues")
    TANDEM_MODULE("nodes")
    TANDEM_MODULE("walk")
    TANDEM_MODULE("waits")
    TANDEM_MODULE("text")
    TANDEM_MODULE("gdb_program")
    TANDEM_MODULE("frame_filter")
    TANDEM_MODULE("gdb_commands")
    ".ascii \"\\n_tandem_begin()\\n\"\n"
    ".byte 0\n"
    ".popsection\n");

#endif

void bring_debugger_scripts() noexcept {}

}  // namespace tandem::inline v0::platform
