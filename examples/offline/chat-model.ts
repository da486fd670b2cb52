// A model with tools that answers from a script, in place of a provider's client, so that the example runs without a key.

export interface ToolCall {
  readonly id: string;
  readonly name: "python";
  readonly code: string;
}

export interface Message {
  readonly role: "user" | "assistant" | "tool";
  readonly content: string;
  readonly toolCalls?: readonly ToolCall[];
}

const REPLIES: readonly Message[] = [
  call("1", "import statistics\nheights = [172, 181, 165, 190]\nprint('looking at', len(heights), 'people')"),
  call("2", "statistics.mean(height)"),
  call("3", "statistics.mean(heights)"),
  call("4", "while True: pass"),
  { role: "assistant", content: "On average they are 177 cm tall." },
];

/** The next reply: the conversation says how many there were. */
export async function askModel(messages: readonly Message[]): Promise<Message> {
  const reply = REPLIES[messages.filter(({ role }) => role === "assistant").length];
  if (reply === undefined) throw new Error("The script has no further reply");
  return reply;
}

function call(id: string, code: string): Message {
  return { role: "assistant", content: "", toolCalls: [{ id, name: "python", code }] };
}
