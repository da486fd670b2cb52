// Attempts to leave Python in WebAssembly, beyond those of the corpus. Each fails with an exception, or ends its worker: it has the status
// "ok" only if it succeeds.

/** Python code that makes `core`, the module behind the removed ones. */
const CORE = `
import _imp, importlib.machinery as m
core = _imp.create_builtin(m.ModuleSpec('_pyodide_core', m.BuiltinImporter, origin='built-in'))`;

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
gc.unfreeze()
for each in gc.get_objects():
    if type(each) is types.ModuleType and getattr(each, '__name__', '') in ('js', 'pyodide_js', '_pyodide_core'):
        sys.modules[each.__name__] = each
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != 'JsImportBlocker']
import js
js.process.getBuiltinModule('fs').readFileSync('{{SECRET}}', 'utf8')`,
  "walk the garbage collector for proxies": `
import gc
gc.unfreeze()
found = [each for each in gc.get_objects() if any(kind.__name__ == 'JsProxy' for kind in type(each).__mro__)]
finders = [each for each in gc.get_objects() if type(each).__name__ == 'JsFinder']
[proxy for finder in finders for proxy in finder.jsproxies.values()][0].FS`,
  "call emscripten_run_script": `
import ctypes
run = ctypes.pythonapi.emscripten_run_script_string; run.restype = ctypes.c_char_p
run(b"process.getBuiltinModule('fs').readFileSync('{{SECRET}}', 'utf8')").decode()`,
  "call system() of the C library": `
import ctypes
assert ctypes.CDLL(None).system(b"cat {{SECRET}}") == 0`,
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
  "reach the process through a patched method and a getter": `
import os
${CORE}
arr = core.to_js([1]); Object = arr.constructor.__proto__.__proto__.constructor
out = core.to_js([]); TA = core.to_js(b'abc').constructor.__proto__.prototype
orig = TA.set; fd = os.open('/dev/rlm/usage', os.O_RDONLY)
TA.set = out.push.bind(out); os.read(fd, 64); TA.set = orig
Buffer = out.map(Object.getPrototypeOf).map(Object.getOwnPropertyDescriptors)[0].constructor.value
got = []
Object.prototype.__defineGetter__('noDeprecation', core.create_proxy(lambda this, *a: (got.append(this), None)[1], capture_this=True))
try: Buffer(5)
except BaseException: pass
process = got[0]
opts = Object.fromEntries(core.to_js([['eval', True]]))
process.getBuiltinModule('worker_threads').Worker.new("0", opts)`,
  "make the module that holds JavaScript again": `
import importlib.machinery as m
m.BuiltinImporter.load_module('_pyodide_core').to_js([1])`,
  "raise an error of JavaScript": `
import gc
gc.unfreeze()
kinds = [each for each in gc.get_objects() if isinstance(each, type) and each.__name__ in ('JsException', 'JsProxy', 'JsBigInt')]
[kind for kind in kinds if kind.__name__ == 'JsException'][0]('x').js_error.constructor`,
  "use a proxy that Python still holds": `
import gc
gc.unfreeze()
found = [each for each in gc.get_objects() if any(kind.__name__ == 'JsProxy' for kind in type(each).__mro__)]
[each.constructor for each in found][0]`,
  "call the functions behind proxies": `
import ctypes
lib = ctypes.CDLL(None)
lib.hiwire_new.restype = lib.JsvObject_New.restype = ctypes.c_void_p
lib.JsvObject_New()`,
  "call a constant of EM_ASM": `
import ctypes
ctypes.CDLL(None).emscripten_asm_const_int(0, 0, 0)`,
  "start a script later": `
import ctypes
ctypes.CDLL(None).emscripten_async_run_script(b"process.exit(3)", 0)
ctypes.CDLL(None).emscripten_set_timeout(0, ctypes.c_double(0), 0)`,
  "start a worker of Emscripten": `
import ctypes
ctypes.CDLL(None).emscripten_create_worker(b"data:text/javascript,0")`,
  "open a WebSocket": `
import ctypes
ctypes.CDLL(None).emscripten_websocket_new(b"\\0" * 64)`,
  "load a library from the host": `
import ctypes
ctypes.CDLL('{{SECRET}}')`,
  "load WebAssembly of its own that calls JavaScript": `
import ctypes
name = b'emscripten_run_script'
section = lambda kind, body: bytes([kind, len(body)]) + body
code = (b'\\0asm\\1\\0\\0\\0' + section(0, b'\\x08dylink.0' + bytes([1, 4, 0, 0, 0, 0]))
    + section(1, bytes([2, 0x60, 1, 0x7f, 0, 0x60, 0, 0])) + section(2, b'\\1\\3env' + bytes([len(name)]) + name + b'\\0\\0') + section(3, b'\\1\\1')
    + section(7, b'\\1\\x11__wasm_call_ctors\\0\\1') + section(10, bytes([1, 6, 0, 0x41, 0, 0x10, 0, 0x0b])))
open('own.so', 'wb').write(code)
ctypes.CDLL('./own.so')`,
  "call the start of the core as a method of its own": `
import ctypes
from ctypes import c_void_p, c_char_p, c_int, Structure
class Method(Structure): _fields_ = [('name', c_char_p), ('call', c_void_p), ('flags', c_int), ('doc', c_char_p)]
lib = ctypes.PyDLL(None)
start = ctypes.cast(lib.PyInit__pyodide_core, c_void_p).value
method = Method(b'start', start, 4, b'')
lib.PyCMethod_New.restype = ctypes.py_object
lib.PyCMethod_New(ctypes.byref(method), None, None, None)()
${CORE}
core.to_js({})`,
  "connect with the C library": `
import ctypes, struct
lib = ctypes.CDLL(None)
fd = lib.socket(2, 1, 0)
assert lib.connect(fd, struct.pack('<HBBBBBBxxxxxxxx', 2, 0, 80, 127, 0, 0, 1), 16) == 0`,
  "ask for a name of the network": `
import _socket
_socket.getaddrinfo('localhost', 80)`,
  "make a device with the number of the terminal": `
import ctypes, os
assert ctypes.CDLL(None).mknod(b'/tmp/terminal', 0o20666, 0x500) == 0
fd = os.open('/tmp/terminal', os.O_RDWR)
assert os.read(fd, 10)`,
  "map a device into memory": `
import mmap, os
mmap.mmap(os.open('/dev/rlm/usage', os.O_RDWR), 4096)`,
  "write nonsense to the devices": `
import os
for name in ('wait', 'tick', 'usage', 'commands', 'aside'):
    for data in (b'', b'x', b'x' * 100):
        try: os.write(os.open('/dev/rlm/' + name, os.O_RDWR), data if name != 'wait' else data[:7])
        except OSError: pass
1 / 0`,
  "end the process from the C library": `
import ctypes
ctypes.CDLL(None).emscripten_force_exit(0)`,
};
