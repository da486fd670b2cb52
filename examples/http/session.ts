// A session over HTTP with only fetch: state, an idempotent retry, a resumed stream.

const url = process.env["RLM_URL"] ?? "http://127.0.0.1:8000";
const token = process.env["RLM_TOKEN"] ?? "";

async function ask(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`); // the problem says what is wrong
  return response;
}

const opened = (await (await ask("POST", "/v1/sessions")).json()) as { id: string };
const session = `/v1/sessions/${opened.id}`;

interface Result {
  status: string;
  value?: Record<string, string>;
}

async function execute(code: string, headers: Record<string, string> = {}): Promise<Result> {
  return (await (await ask("POST", `${session}/execute`, { code }, headers)).json()) as Result;
}

// Executions share state.
await execute("import math\nradius = 3");
const area = await execute("math.pi * radius ** 2");
console.log(area.status, area.value?.["text/plain"]);

// A request whose response was lost is retried with the same key: the code ran once.
const key = { "idempotency-key": crypto.randomUUID() };
const [first, second] = [await execute("radius += 1; radius", key), await execute("radius += 1; radius", key)];
console.log(first.value?.["text/plain"], second.value?.["text/plain"]);

/** Server-sent events: lines, with an empty one after each event. */
async function* readEvents({ body }: Response): AsyncGenerator<{ id: string; type: string; text?: string }> {
  let rest = "";
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const messages = (rest + piece).split("\n\n");
    rest = messages.pop() ?? "";
    for (const message of messages) {
      const [id = "", data] = ["id", "data"].map((name) => new RegExp(`^${name}: (.*)$`, "m").exec(message)?.[1]);
      if (data !== undefined) yield { ...(JSON.parse(data) as { type: string }), id };
    }
  }
}

// Streamed output. This reader disconnects after the first event; the code continues, and no output is lost.
const code = "import time\nfor n in range(3):\n    print(n, flush=True)\n    time.sleep(0.1)";
const stream = await ask("POST", `${session}/execute`, { code }, { accept: "text/event-stream" });
let cursor = "";
for await (const { id } of readEvents(stream)) {
  cursor = id;
  break;
}
const again = await ask("GET", `${stream.headers.get("location")}/events`, undefined, { "last-event-id": cursor });
let printed = "";
for await (const { type, text = "" } of readEvents(again)) {
  if (type === "output-delta") printed += text;
  if (type === "execution-end") console.log(JSON.stringify(printed));
}

await ask("DELETE", session);
