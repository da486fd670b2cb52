// The page with hot reload, against a server that runs, or one that this starts with the built program.
//
//   npm run dev [-- --port N]        N: of the page (default: 5173, else the next one)
//
// The server sees its own name as Host and Origin, so its guards accept what the page sends through here.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createServer } from "vite";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const { values } = parseArgs({ options: { port: { type: "string", default: "5173" } } });

const server = await findServer();
const page = await createServer({
  configFile: "web/vite.config.ts",
  server: {
    host: "127.0.0.1",
    port: Number(values.port),
    proxy: { "/v1": { target: server.url, changeOrigin: true, ws: true, configure: sendOwnOrigin } },
  },
});
await page.listen();
const [address] = page.resolvedUrls.local;
process.stdout.write(`page ${address} of the server ${server.url}\n`);
if (process.stdout.isTTY) process.stdout.write(`open ${address}#token=${encodeURIComponent(server.token)}\n`);
else process.stdout.write(`${server.tokenAt}\n`);
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    server.program?.kill("SIGINT");
    void page.close().then(() => process.exit(0));
  });
}

/** `rlm visualize` finds a server, or starts one and says that it listens. It then runs until it is ended. */
async function findServer() {
  const args = ["dist/cli.cjs", "visualize", "--no-open", "--port", "0"];
  const program = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const lines = [];
  for await (const line of createInterface({ input: program.stdout })) {
    lines.push(line);
    if (line.startsWith("token ")) break;
  }
  const tokenAt = lines.at(-1);
  if (tokenAt?.startsWith("token ") !== true) process.exit(1); // it has said why
  const isOwn = lines[0].startsWith("listening ");
  const url = lines.at(-2).replace(/\/$/, "");
  const path = /'(.*)'$|^token in (.*)$/.exec(tokenAt);
  const token = path === null ? process.env.RLM_TOKEN : readFileSync(path[1] ?? path[2], "utf8").trim();
  return { url, token, tokenAt, program: isOwn ? program : undefined };
}

function sendOwnOrigin(proxy, { target }) {
  const replace = (request) => {
    if (request.getHeader("origin") !== undefined) request.setHeader("origin", target);
  };
  proxy.on("proxyReq", replace);
  proxy.on("proxyReqWs", replace);
}
