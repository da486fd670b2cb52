// Runs the official conformance suite against our HTTP server, for both revisions of the protocol.
//
//   node scripts/mcp/conformance.mjs      exit codes: 0 as expected, 1 not, 75 the suite is not available
//
// Most scenarios call tools, prompts and resources with fixed names that only a server for the suite has. The ones below
// need few or none of them: each must pass as many checks as listed, and those of PASS must have no failures.
import { createServer, request as httpRequest } from "node:http";
import { openTemporaryHome, requireForeign, run, startHTTP } from "./foreign.mjs";

const PASS = {
  "2026-07-28": [
    "tools-list",
    "resources-list",
    "sep-2164-resource-not-found",
    "dns-rebinding-protection",
    "server-sse-multiple-streams",
    "http-header-validation",
    "input-required-result-unsupported-methods",
    "input-required-result-validate-input",
  ],
  "2025-11-25": [
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "dns-rebinding-protection",
    "server-sse-multiple-streams",
    "server-session-lifecycle",
  ],
};
/** By scenario: the number of checks that need no fixtures of the suite. */
const PASS_IN_PART = {
  "2026-07-28": { "server-stateless": 24, caching: 6 },
  "2025-11-25": {},
};

const home = openTemporaryHome(requireForeign());
let failed = 0;
try {
  const server = await startHTTP(home);
  const proxy = await openProxy(server);
  try {
    for (const revision of Object.keys(PASS)) await checkRevision(revision, proxy.url);
  } finally {
    proxy.close();
    await server.close();
  }
} finally {
  home.close();
}
process.stdout.write(failed === 0 ? "The conformance suite found what was expected\n" : `${failed} checks failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

async function checkRevision(revision, url) {
  const { stdout } = await run("conformance", ["server", "--url", url, "--requirements", revision], home);
  const found = new Map(
    [...stdout.matchAll(/^[✓✗⚠~] (?<name>[\w-]+): (?<passed>\d+) passed, (?<wrong>\d+) failed/gmu)].map(
      ({ groups }) => [groups.name, { passed: Number(groups.passed), wrong: Number(groups.wrong) }],
    ),
  );
  for (const name of PASS[revision]) {
    const { passed = 0, wrong = 1 } = found.get(name) ?? {};
    report(passed > 0 && wrong === 0, `${revision} ${name}: ${passed} passed, ${wrong} failed`);
  }
  for (const [name, wanted] of Object.entries(PASS_IN_PART[revision])) {
    const { passed = 0 } = found.get(name) ?? {};
    report(passed >= wanted, `${revision} ${name}: ${passed} passed, ${wanted} can without tools of the suite`);
  }
  if (process.argv.includes("--all")) process.stdout.write(stdout.slice(stdout.indexOf("=== SUMMARY")));
}

function report(isRight, line) {
  if (!isRight) failed += 1;
  process.stdout.write(`${isRight ? "ok" : "FAILED"} ${line}\n`);
}

/** A proxy that adds the token, which the suite cannot send. Everything else, such as Host and Origin, is unchanged. */
async function openProxy({ url, authorization }) {
  const { hostname, port } = new URL(url);
  const proxy = createServer((incoming, outgoing) => {
    const { url: path, method, headers } = incoming;
    const passed = httpRequest({ hostname, port, path, method, headers: { ...headers, authorization } }, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    outgoing.on("close", () => passed.destroy());
    incoming.pipe(passed);
  });
  await new Promise((resolve) => void proxy.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${proxy.address().port}/mcp`,
    close: () => {
      proxy.close();
      proxy.closeAllConnections();
    },
  };
}
