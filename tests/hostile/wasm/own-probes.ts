// Attempts to leave Python in WebAssembly, beyond those of the corpus. Each ends with the secret as its value, if it succeeds.

/** `{{SECRET}}` is the path of a file of the host; its content must not come back. */
export const OWN_PROBES: Readonly<Record<string, string>> = {
  "import the core again": `
import _imp, importlib.machinery as m
core = _imp.create_builtin(m.BuiltinImporter.find_spec('_pyodide_core'))
core.to_js([1]).constructor.constructor("return process.getBuiltinModule('fs').readFileSync('{{SECRET}}', 'utf8')")()`,
  "load the library's own files": `
import zipimport, importlib.util
spec = zipimport.zipimporter('/lib/python314.zip').find_spec('pyodide')
module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module)
module.code.run_js("process.getBuiltinModule('fs').readFileSync('{{SECRET}}', 'utf8')")`,
  "put modules back": `
import sys, gc, types
for each in gc.get_objects():
    if type(each) is types.ModuleType and getattr(each, '__name__', '') in ('js', 'pyodide_js', '_pyodide_core'):
        sys.modules[each.__name__] = each
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != 'ClosedFinder']
import js
js.process.getBuiltinModule('fs').readFileSync('{{SECRET}}', 'utf8')`,
  "walk the garbage collector for proxies": `
import gc
found = [each for each in gc.get_objects() if any(kind.__name__ == 'JsProxy' for kind in type(each).__mro__)]
finders = [each for each in gc.get_objects() if type(each).__name__ == 'JsFinder']
[proxy for finder in finders for proxy in finder.jsproxies.values()][0].FS`,
  "call emscripten_run_script": `
import ctypes
run = ctypes.pythonapi.emscripten_run_script_string; run.restype = ctypes.c_char_p
run(b"process.getBuiltinModule('fs').readFileSync('{{SECRET}}', 'utf8')").decode()`,
  "call system() of the C library": `
import ctypes
ctypes.CDLL(None).system(b"cat {{SECRET}}")`,
  "make a function of the frames": `
import _imp, importlib.machinery as m
core = _imp.create_builtin(m.BuiltinImporter.find_spec('_pyodide_core'))
error = core.to_js([1]).constructor.constructor
try: core.to_js([1]).at.call(None)
except BaseException as failure: kind = failure.js_error.constructor
seen = []
kind.prepareStackTrace = core.create_proxy(lambda _, sites: seen.extend([site.getThis() for site in sites]))
try: core.to_js([1]).at.call(None)
except BaseException as failure: failure.js_error.stack
[each for each in seen if each is not None][0].process.getBuiltinModule('fs').readFileSync('{{SECRET}}', 'utf8')`,
  "use the binding of the process": `
import _imp, importlib.machinery as m
core = _imp.create_builtin(m.BuiltinImporter.find_spec('_pyodide_core'))
core.to_js([1]).constructor.constructor.constructor("return process.binding('fs')")()`,
  "import a module of Node": `
import _imp, importlib.machinery as m
core = _imp.create_builtin(m.BuiltinImporter.find_spec('_pyodide_core'))
make = core.to_js([1]).constructor.constructor
make("return import('node:fs')")()`,
  "follow a link out of the working directory": `
import os
os.symlink('{{SECRET}}', 'link')
open('link').read()`,
  "read it through a link to the root": `
import os
os.symlink('/', 'root')
open('root{{SECRET}}').read()`,
  "open it by its path": `open('{{SECRET}}').read()`,
  "go up from the working directory": `open('../' * 20 + '{{SECRET}}'[1:]).read()`,
};
