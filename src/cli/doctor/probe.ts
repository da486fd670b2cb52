// Asks a local HTTP server for its answer.

const PROBE_MS = 2_000;
const MAX_CHARACTERS = 10_000;

/** The beginning of the response to a GET without a token. Undefined: no response in time. */
export async function probe(url: string): Promise<string | undefined> {
  try {
    const { body } = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(PROBE_MS) });
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > MAX_CHARACTERS) break;
    }
    return text;
  } catch {
    return undefined;
  }
}
