// Lists and calls our tools with the official Inspector, on stdio and HTTP, in both revisions of the protocol.
//
//   node scripts/mcp/inspector.mjs      exit codes: 0 as expected, 1 not, 75 the Inspector is not available
//
// Prints a line for each check.
import { openTemporaryHome, requireForeign, run, startHTTP, STDIO } from "./foreign.mjs";

const TOOLS = [
  "execute_python",
  "get_repl_context",
  "set_repl_context",
  "clear_repl_context",
  "create_repl_session",
  "execute_repl",
  "list_repl_sessions",
  "get_session_namespace",
  "destroy_repl_session",
  "clear_repl_session",
  "save_repl_session",
  "load_repl_session",
  "fork_repl_session",
  "add_to_stdlib",
  "list_stdlib_functions",
  "python",
  "python_session",
  "shell",
  "shell_status",
];
/** Every other tool once, in this order: later calls use the state of earlier ones. */
const TOUR = [
  ["create_repl_session", { session_id: "tour" }, /tour/],
  ["set_repl_context", { key: "n", value: "[1, 2]", session_id: "tour" }, /\bn\b/],
  ["get_repl_context", { key: "n", session_id: "tour" }, /\[1, 2\]/],
  ["execute_repl", { session_id: "tour", code: "sum(n)" }, /\b3\b/],
  ["python_session", { session_id: "tour", code: "sum(n) + 1" }, /\b4\b/],
  ["get_session_namespace", { session_id: "tour" }, /\bn\b/],
  ["fork_repl_session", { session_id: "tour", new_session_id: "fork" }, /fork/],
  ["save_repl_session", { session_id: "fork", filepath: "tour" }, /\bn\b/],
  ["destroy_repl_session", { session_id: "fork" }, /fork/],
  ["load_repl_session", { session_id: "loaded", filepath: "tour" }, /\bn\b/],
  ["list_repl_sessions", {}, /tour[\s\S]*loaded/],
  ["clear_repl_context", { session_id: "tour" }, /tour/],
  ["clear_repl_session", { session_id: "loaded" }, /loaded/],
  ["add_to_stdlib", { function_code: "def twice(x):\n    return 2 * x" }, /twice/],
  ["list_stdlib_functions", {}, /twice/],
  ["python", { code: "print(twice(21))" }, /42/],
];
const IS_ERROR = 5;
const NEEDS_TOKEN = 3;
const AT_ONCE = 2;

const home = openTemporaryHome(requireForeign());
let failed = 0;
try {
  const http = await startHTTP(home);
  try {
    const header = ["--header", `Authorization: ${http.authorization}`];
    const targets = ["legacy", "modern"].flatMap((era) => [
      { name: `stdio, ${era} era`, era, args: [...STDIO, "--protocol-era", era] },
      { name: `HTTP, ${era} era`, era, args: [http.url, ...header, "--protocol-era", era], keepsState: true },
    ]);
    const checks = targets.flatMap(checksOf);
    checks.push(() => checkRefusal(http.url));
    const waiting = targets.map(checkLongCall); // concurrently: they mostly sleep
    const tour = takeTour(targets.find(({ keepsState }) => keepsState));
    await Promise.all([tour, ...waiting, ...Array.from({ length: AT_ONCE }, () => work(checks))]);
  } finally {
    check("HTTP server", "ends by SIGTERM with exit code 0", await http.close(), 0);
  }
} finally {
  home.close();
}
process.stdout.write(failed === 0 ? "The Inspector found what was expected\n" : `${failed} checks failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

/** Each call starts the Inspector, which takes a second: checks that do not depend on transport or revision run once. */
function checksOf(target) {
  const isTheOne = target.era === "modern" && target.keepsState;
  return [
    () => checkList(target),
    () => checkCall(target, "execute_python", { code: "print('hello'); 6*7" }, 0, /hello[\s\S]*42/),
    () => checkCall(target, "execute_python", { code: "1/0" }, IS_ERROR, /ZeroDivisionError: division by zero/),
    ...(isTheOne
      ? [
          () => checkCall(target, "shell", { command: "echo out; exit 3" }, 0, /out[\s\S]*exit 3/),
          () => checkCall(target, "execute_repl", { session_id: "nobody", code: "1" }, IS_ERROR, /create_repl_session/),
          () => checkState(target),
        ]
      : []),
  ];
}

async function takeTour(target) {
  for (const [tool, args, wanted] of TOUR) await checkCall(target, tool, args, 0, wanted);
}

/** --strict: the Inspector rejects schemas that some clients cannot use, with exit code 6. */
async function checkList(target) {
  const { code, stdout, stderr } = await inspect(target, ["--method", "tools/list", "--strict", "--format", "json"]);
  const names = code === 0 ? parse(stdout).result.tools.map(({ name }) => name) : stderr;
  check(target.name, "tools/list --strict", { code, names: sorted(names) }, { code: 0, names: sorted(TOOLS) });
  check(target.name, "tools/list --strict has no objection", stderr.trim(), "");
}

async function checkCall(target, tool, args, wantedCode, wanted) {
  const { code, text } = await call(target, tool, args);
  const what = `${tool}(${JSON.stringify(args)})`;
  check(
    target.name,
    what,
    { code, text: wanted.test(text) ? "as wanted" : text },
    { code: wantedCode, text: "as wanted" },
  );
}

/** Each call is a new process of the Inspector, so the state is the server's. */
async function checkState(target) {
  const name = `v_${target.name.replaceAll(/\W+/g, "_")}`;
  await call(target, "execute_python", { code: `${name} = 41` });
  const { text } = await call(target, "execute_python", { code: `${name} + 1` });
  check(target.name, "a variable is there in the next call", /\b42\b/.test(text) || text, true);
}

/** A command that outlives its call. Clients of the newer revision poll the task themselves. */
async function checkLongCall(target) {
  const { text } = await call(target, "shell", { command: "echo early; sleep 6; echo late" });
  if (target.era === "modern")
    return check(target.name, "a long call is followed to its end", text.slice(0, 10), "early\nlate");
  const [, task] = /^Still running: task (\S+)[\s\S]*early/.exec(text) ?? [];
  check(target.name, "a long call becomes a task", task === undefined ? text : true, true);
  if (!target.keepsState) return undefined;
  const { text: rest } = await call(target, "shell_status", { task_id: task, wait: 30, offset: 6 });
  return check(target.name, "shell_status reads the task to its end", /^late/m.test(rest) || rest, true);
}

async function checkRefusal(url) {
  const wrong = { args: [url, "--header", "Authorization: Bearer wrong"] };
  const { code } = await inspect(wrong, ["--method", "tools/list", "--stored-auth-only"]);
  check("HTTP", "a wrong token is refused", code, NEEDS_TOKEN);
}

async function call(target, tool, args) {
  const how = ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", JSON.stringify(args)];
  const { code, stdout, stderr } = await inspect(target, [...how, "--format", "json", "--quiet"]);
  const content = parse(stdout)?.result?.content ?? [];
  return { code, text: content.map(({ text = "" }) => text).join("\n") || stderr };
}

function inspect(target, args) {
  return run("mcp-inspector", ["--cli", ...target.args, ...args], home);
}

function parse(json) {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function sorted(names) {
  return Array.isArray(names) ? names.toSorted() : names;
}

function check(target, what, got, wanted) {
  const isRight = JSON.stringify(got) === JSON.stringify(wanted);
  if (!isRight) failed += 1;
  const difference = isRight ? "" : `: got ${JSON.stringify(got)} instead of ${JSON.stringify(wanted)}`;
  process.stdout.write(`${isRight ? "ok" : "FAILED"} ${target}: ${what}${difference}\n`);
}

async function work(checks) {
  for (let next = checks.shift(); next !== undefined; next = checks.shift()) await next();
}
