import { openRuntime, type Result } from "rlm-runtime";
import { askModel, type Message } from "./offline/chat-model.ts"; // in your program: a provider's client

await using runtime = await openRuntime({ limits: { sessions: 50 }, ids: "random" });
await answer("conversation-17", "How tall are they on average?");

/** One question of a conversation. Its session keeps the variables for the next one. */
async function answer(conversation: string, question: string): Promise<void> {
  const session = await runtime.obtainSession(conversation, { idleTimeoutMs: 30 * 60_000 });
  const signal = AbortSignal.timeout(60_000); // for everything that this question starts
  const messages: Message[] = [{ role: "user", content: question }];

  for (let turn = 0; turn < 10; turn += 1) {
    const reply = await askModel(messages);
    messages.push(reply);
    if (!reply.toolCalls) return console.log("assistant:", reply.content);
    for (const { id, code } of reply.toolCalls) {
      const execution = session.execute(code, { id: `${conversation}.${id}`, timeoutMs: 500, signal });
      for await (const event of execution) {
        if (event.type === "output-delta") console.log("to the page:", event.text.trimEnd());
      }
      const observation = describe(await execution);
      console.log("to the model:", observation);
      messages.push({ role: "tool", content: observation });
    }
  }
}

/** What the model is told: short, and with what it needs to go on. */
function describe(result: Result): string {
  const printed = result.stdout.slice(0, 4_000);
  switch (result.status) {
    case "ok":
      return `${printed}${result.text ?? ""}`.trim() || "no output";
    case "error":
      return `${printed}${result.error.traceback.trimEnd().split("\n").at(-1)}`;
    case "interrupted":
      return `${printed}stopped (${result.reason}); variables: ${result.state}`;
    case "exit":
      return `${printed}the code called exit(${result.exitCode})`;
  }
}
