// L. What the notes and guards of a strategy are worth: scripted models that fall into a failure, with the switch that prevents it on
// and off. Steps, tokens and answers are counted, so every run gives the same numbers.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBenchRuntime } from "./lib/runtime.mjs";

const WINDOW = 8_000;

export async function measure({ row }) {
  const folder = mkdtempSync(join(tmpdir(), "rlm-bench-"));
  process.env.RLM_DATA = folder;
  const testing = await import(new URL("../dist/testing.js", import.meta.url).href);
  const { BackendConnectionError } = await import(new URL("../dist/index.js", import.meta.url).href);
  const runtime = await openBenchRuntime();
  const play = async ({ policy, request = {}, window }, strategy) => {
    const scripted = testing.createScriptedBackend(policy());
    const backend = window === undefined ? scripted : new SmallWindow(window, scripted, BackendConnectionError);
    const options = { model: "root", subModel: "sub", mode: "rlm", cache: false, log: false, backend, strategy };
    return runtime.rlm(options).run({ query: "?", context: "c", ...request });
  };
  try {
    for (const failure of FAILURES) {
      const [on, off] = [await play(failure, {}), await play(failure, failure.off)];
      row({
        question: failure.question,
        ours: toAmount(on, failure),
        other: { name: "(off)", ...toAmount(off, failure) },
        aim: { text: "right", met: isRight(on, failure) },
      });
    }
  } finally {
    await runtime.close();
    rmSync(folder, { recursive: true });
  }
}

function isRight({ answer }, failure) {
  return answer === failure.answer;
}

function toAmount(result, failure) {
  const { tokens, iterations, llmCalls } = result.usage.total;
  const ending = isRight(result, failure) ? "right" : "wrong";
  const steps = iterations === 1 ? "step" : "steps";
  return { best: tokens, unit: `tokens, ${iterations} ${steps}, ${llmCalls} calls, ${ending}` };
}

/** Refuses what does not fit, as a provider does. */
class SmallWindow {
  name = "small-window";
  #window;
  #backend;
  #Refusal;

  constructor(window, backend, Refusal) {
    this.#window = window;
    this.#backend = backend;
    this.#Refusal = Refusal;
  }

  factsOf() {
    return { contextWindow: this.#window };
  }

  async *stream(request, options) {
    const bytes = request.messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
    if (bytes / 3 > this.#window) {
      const why = `it has more than ${this.#window} tokens`;
      throw new this.#Refusal({ backend: this.name, fault: "context-too-long", why, retryable: false });
    }
    yield* this.#backend.stream(request, options);
  }
}

const block = (code) => `\`\`\`repl\n${code}\n\`\`\`\n`;
const lastOf = ({ messages }) => messages.at(-1).content;
const stepOf = ({ messages }) => messages.filter(({ role }) => role === "assistant").length;
const isEnd = (request) => lastOf(request).includes("has to end here");
const PAGES = 30;

/** `policy`: makes the script of a model; `off`: what turns off the note or the guard. */
const FAILURES = [
  {
    question: "Code drops 25 of 30 calls that failed",
    answer: "30",
    off: { notes: { failedCalls: false } },
    policy: () => {
      const asked = new Set();
      return (request) => {
        if (request.model === "sub") {
          const prompt = lastOf(request);
          const isBusy = !asked.has(prompt) && Number(prompt) >= 5;
          asked.add(prompt);
          return isBusy ? { error: { fault: "rate-limit" } } : "1";
        }
        if (stepOf(request) === 0)
          return block("got = {n: a for n, a in enumerate(llm_query_batched(range(30))) if a.ok}\nlen(got)");
        if (!lastOf(request).includes("model calls failed")) return block("FINAL(len(got))");
        return block("FINAL(len(got) + len(llm_query_batched([n for n in range(30) if n not in got])))");
      };
    },
  },
  {
    question: "Code takes answers that were cut off for whole ones",
    answer: "all of it all of it",
    off: { notes: { cutAnswers: false } },
    policy: () => (request) => {
      if (request.model === "sub")
        return request.maxTokens === 9_000 ? "all of it" : { text: "half of", finishReason: "length" };
      if (stepOf(request) === 0) return block("parts = llm_query_batched(['a', 'b'])");
      return lastOf(request).includes("cut off")
        ? block("FINAL(' '.join(llm_query_batched(['a', 'b'], max_tokens=9_000)))")
        : block("FINAL(' '.join(parts))");
    },
  },
  {
    question: "A model runs the same block again and again, until it is told",
    answer: "7",
    off: { notes: { repeatedCode: false }, guards: { repeatedBlocks: 0 } },
    policy: () => (request) => {
      if (isEnd(request)) return "no idea";
      return lastOf(request).includes("same code as block") ? block("FINAL(7)") : block("print('nothing here')");
    },
  },
  {
    question: "A model runs the same block again and again, and does not listen",
    answer: "no idea",
    off: { guards: { repeatedBlocks: 0 } },
    policy: () => (request) => (isEnd(request) ? "no idea" : block("print('nothing here')")),
  },
  {
    question: "A model answers before it has looked",
    answer: "17",
    off: { guards: { lookBeforeAnswer: false } },
    request: { context: `${"filler\n".repeat(100)}the number is 17` },
    policy: () => (request) =>
      lastOf(request).includes("you have not looked") ? block("FINAL(context[-2:])") : "FINAL(42)",
  },
  {
    question: "A model counts the items that it sees of a long list",
    answer: "5000",
    off: { notes: { totals: false } },
    policy: () => (request) => {
      if (stepOf(request) === 0) return block("[{'id': n} for n in range(5_000)]");
      const total = /list, ([\d,]+) items/.exec(lastOf(request))?.[1].replace(",", "");
      return block(`FINAL(${total ?? lastOf(request).split("'id'").length - 1})`);
    },
  },
  {
    question: "A child answers code as it would a person",
    answer: '["Oslo", "Riga"]',
    off: { prompts: { child: "" } },
    policy: () => (request) => {
      if (!request.messages[1].content.startsWith("Question: List")) {
        return block(
          "import json\ntry:\n    found = json.loads(rlm_query('List the ports as JSON', 'Oslo, Riga'))\nexcept ValueError:\n    found = None\nFINAL(found)",
        );
      }
      const isChild = request.messages[0].content.includes("goes back to the code");
      return isChild ? block("FINAL(context.split(', '))") : block("FINAL('Gladly! They are ' + context)");
    },
  },
  {
    question: `${PAGES} steps in a window of ${WINDOW.toLocaleString("en-US")} tokens`,
    answer: String((PAGES * (PAGES + 1)) / 2),
    off: { compaction: { atWindowShare: 0 } },
    window: WINDOW,
    request: { limits: { maxIterations: PAGES + 1 } },
    policy: () => (request) => {
      if (isEnd(request)) return "no idea";
      const n = Number(/Output of block (\d+)/.exec(lastOf(request))?.[1] ?? 0);
      if (n === PAGES) return block("FINAL(total)");
      return block(`${n === 0 ? "total = 0\n" : ""}print('page ${n + 1}', 'x' * 700)\ntotal += ${n + 1}`);
    },
  },
  {
    question: "A block prints 40,000 characters in a window of 4,000 tokens",
    answer: "1",
    off: { observations: { windowShare: 0 }, compaction: { atWindowShare: 0 } },
    window: WINDOW / 2,
    policy: () => (request) => {
      if (isEnd(request)) return "no idea";
      return stepOf(request) < 2 ? block(`print('${stepOf(request)} ' * 20_000)`) : block("FINAL(1)");
    },
  },
];
