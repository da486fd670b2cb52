import { connectRuntime, SessionNotFoundError, type Runtime } from "rlm-runtime/client";

const { RLM_URL: url = "http://127.0.0.1:8000", RLM_TOKEN: token = "" } = process.env;

/** Works with the runtime of a server and with one of this machine: both are a `Runtime`. */
async function report(runtime: Runtime, csv: string): Promise<void> {
  await using session = await runtime.openSession();
  await session.files.write("sales.csv", csv);

  // Not awaited one by one: calls on a session take effect in program order.
  const rows = session.execute(
    "import csv\nrows = [int(sold) for _, sold in csv.reader(open('sales.csv'))]\nlen(rows)",
  );
  const total = session.get("rows");
  const lines = session.shell("wc -l < sales.csv");
  console.log((await rows).text, await total, (await lines).stdout.trim());

  const failed = await session.execute("rows['first']");
  if (failed.status === "error") console.log(failed.error.name, failed.state);
}

await using runtime = await connectRuntime({ url, token });
await report(runtime, "Oslo,3\nRome,5\n");

// Errors are the same classes with the same fields.
await runtime.sessions.get("nowhere").catch((error: unknown) => {
  if (error instanceof SessionNotFoundError) console.log(error.code, error.sessionId);
});
