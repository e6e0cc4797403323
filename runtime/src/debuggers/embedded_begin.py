# embedded_begin.py: how the modules behind it are found by each other when gdb has them out of the program.
# SPDX-License-Identifier: MIT
import importlib.abc as _tandem_abc
import importlib.util as _tandem_util
import sys as _tandem_sys

_tandem_texts = {"tandem_debug": ""}


def _tandem_module(name, text):
    _tandem_texts[name] = text


class _TandemFinder(_tandem_abc.MetaPathFinder, _tandem_abc.Loader):
    def find_spec(self, name, path, target=None):
        if name not in _tandem_texts:
            return None
        return _tandem_util.spec_from_loader(name, self, origin=f"<{name} of tandem>", is_package=name == "tandem_debug")

    def exec_module(self, module):
        exec(compile(_tandem_texts[module.__name__], f"<{module.__name__} of tandem>", "exec"), module.__dict__)


def _tandem_begin():
    if "tandem_debug" not in _tandem_sys.modules:
        _tandem_sys.meta_path.insert(0, _TandemFinder())
    from tandem_debug import gdb_commands
    gdb_commands.register()
