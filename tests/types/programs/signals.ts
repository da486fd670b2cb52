// With the types of a browser or of Node, signals of the package are those of the platform, and the other way round.

import { defineTool, type HostCall, type Session, type ToolContext } from "rlm-runtime";

export async function passesSignalsOn(call: HostCall, context: ToolContext): Promise<number> {
  const signal: AbortSignal = call.signal;
  const answers = await Promise.all([
    fetch("https://example.org", { signal }),
    fetch("https://example.org", { signal: context.signal }),
  ]);
  return answers.length;
}

export async function takesSignals(session: Session): Promise<void> {
  const controller = new AbortController();
  await session.execute("1", { signal: controller.signal });
  await session.execute("1", { signal: AbortSignal.timeout(1000) });
  await session.files.write("a", new Blob(["a"]), { signal: controller.signal });
  const { body } = await fetch("https://example.org");
  if (body !== null) await session.files.write("b", body);
}

export const tool = defineTool({
  name: "get",
  description: "gets",
  schema: { _zod: { output: { url: "" }, input: null } },
  handler: async ({ url }, { signal }) => (await fetch(url, { signal })).text(),
});
