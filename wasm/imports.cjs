// What WebAssembly can call of JavaScript: the list of its imports, and of the names that a compiled package can link to.
//
// Pyodide needs all of them to start. Then the guard is closed: system calls, clocks and random numbers remain, and all of these take and
// return numbers only. Whatever makes, holds or calls objects of JavaScript ends the process. So code that owns all memory of Python, or
// brings its own WebAssembly, still has no JavaScript to call.
"use strict";

/** As Emscripten numbers them. */
const EACCES = 2;
const ENOSYS = 52;
const EAI_FAIL = -4;

const ALLOWED = new Set(
  `
  __assert_fail _abort_js __call_sighandler _Py_CheckEmscriptenSignals_Helper _PyEM_TrampolineCall_JS
  __hiwire_deduplicate_delete __hiwire_deduplicate_get
  emscripten_runtime_keepalive_push emscripten_runtime_keepalive_pop _emscripten_runtime_keepalive_clear
  emscripten_get_heap_max emscripten_resize_heap _mmap_js _munmap_js _msync_js
  emscripten_date_now emscripten_get_now _tzset_js _timegm_js _mktime_js _localtime_js _gmtime_js strptime strptime_l
  clock_res_get clock_time_get random_get environ_get environ_sizes_get _emscripten_get_progname
  fd_close fd_read fd_write fd_sync fd_fdstat_get fd_seek fd_pread fd_pwrite
  __syscall_getuid32_js __syscall_umask_js __syscall_ioctl __syscall_fcntl64 __syscall_openat __syscall_faccessat
  __syscall_chdir __syscall_fchdir __syscall_chmod __syscall_fchmod __syscall_fchmodat2 __syscall_fchownat __syscall_fchown32
  __syscall_dup __syscall_dup3 __syscall_fdatasync __syscall_fstat64 __syscall_stat64 __syscall_newfstatat __syscall_lstat64
  __syscall_ftruncate64 __syscall_truncate64 __syscall_getcwd __syscall_getdents64 __syscall_mkdirat __syscall_mknodat
  __syscall_pipe __syscall_poll __syscall_fadvise64 __syscall_fallocate __syscall_readlinkat __syscall_unlinkat __syscall_rmdir
  __syscall_renameat __syscall_statfs64 __syscall_fstatfs64 __syscall_symlinkat __syscall_utimensat
  __syscall_socket __syscall_getpeername __syscall_getsockname __syscall_getsockopt
  getprotobyname getprotobynumber _emscripten_lookup_name
  _dlsym_js ffi_call_js ffi_closure_alloc_js ffi_closure_free_js ffi_prep_closure_loc_js
  stackAlloc stackRestore stackSave
  `
    .trim()
    .split(/\s+/),
);

/** What some answer once the guard is closed: they fail as the function of the C library should. */
const ANSWERS = {
  ...Object.fromEntries(
    ["accept4", "bind", "connect", "listen", "recvfrom", "recvmsg", "sendmsg", "sendto"].map((name) => [
      `__syscall_${name}`,
      -EACCES,
    ]),
  ),
  ...Object.fromEntries(["connect", "recvfrom", "sendto", "poll"].map((name) => [`_maybe_${name}_async`, null])),
  _try_fcntl64: 0,
  _try_shutdown: 0,
  getaddrinfo: EAI_FAIL,
  getnameinfo: EAI_FAIL,
  _emscripten_system: -ENOSYS,
  _setitimer_js: -ENOSYS,
  emscripten_debugger: undefined,
  emscripten_log_impl_js: undefined,
};

/**
 * `guardImports` is called with Pyodide's imports before WebAssembly gets them, and changes them in place. `close` ends the start. `refuse`
 * gets the name of what was called after that, and does not return; `exit` ends the process with a code. Only with `canLoad` compiled code
 * is loaded from files.
 */
exports.createImportGuard = function createImportGuard() {
  let closed = null;
  const guardImport = (name, original) => {
    const guarded = (...args) => {
      if (closed === null) return original(...args);
      if (name === "exit" || name === "proc_exit") return closed.exit(args[0] & 0xff);
      if (name === "_dlopen_js") return closed.canLoad ? original(...args) : 0;
      if (Object.hasOwn(ANSWERS, name)) return ANSWERS[name];
      return closed.refuse(name);
    };
    return Object.assign(guarded, original); // its signature
  };
  const guardImports = (imports) => {
    for (const [name, original] of Object.entries(imports)) {
      if (typeof original === "function" && !ALLOWED.has(name)) imports[name] = guardImport(name, original);
    }
    return Object.setPrototypeOf(imports, null); // a compiled package links to names of its own choice
  };
  return { guardImports, close: (how) => (closed = how) };
};
