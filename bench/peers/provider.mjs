// A model provider on loopback that streams Chat Completions. `sub` answers after a delay; `root` immediately writes code that
// calls `sub` many times; `long` answers at once with 300 events. A limit applies to `sub` (see limiter.mjs).
//
//   node bench/peers/provider.mjs DELAY_MS CALLS [LIMIT N]      prints its address; exits when its standard input ends

import { createServer } from "node:http";
import { openLimiter } from "./limiter.mjs";

const [delayMs, calls] = process.argv.slice(2, 4).map(Number);
const limiter = openLimiter(process.argv[4], Number(process.argv[5]));
const CODE = `answers = llm_query_batched([f"{context} {i}" for i in range(${calls})])\nFINAL(sum(a == "fine" for a in answers))`;

const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (text) => {
    body += text;
  });
  request.once("end", () => {
    const { model } = JSON.parse(body);
    const { isAccepted, headers } = model === "sub" ? limiter.admit() : { isAccepted: true, headers: {} };
    if (!isAccepted) {
      response.writeHead(429, { "content-type": "application/json", ...headers });
      response.end('{"error":{"message":"Too many requests","type":"rate_limit_error"}}');
      return;
    }
    setTimeout(
      () => {
        if (model === "sub") limiter.end();
        response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", ...headers });
        response.end(ANSWERS[model]);
      },
      model === "sub" ? delayMs : 0,
    );
  });
});
server.keepAliveTimeout = 60_000;
process.stdin.resume().once("end", () => process.exit());

const ANSWERS = {
  root: toEvents([`\`\`\`repl\n${CODE}\n\`\`\`\n`]),
  sub: toEvents(["fine"]),
  long: toEvents(Array(300).fill("word ")),
};
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/v1`));

function toEvents(texts) {
  const chunk = (fields) =>
    `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1_700_000_000, model: "m", ...fields })}\n\n`;
  return [
    ...texts.map((content) =>
      chunk({ choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason: null }] }),
    ),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
    chunk({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 } }),
    "data: [DONE]\n\n",
  ].join("");
}
