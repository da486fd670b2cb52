import { openRuntime } from "rlm-runtime";
import { z } from "zod";
import { block, chooseModel } from "./offline/model.ts";

const invoice = z.object({ number: z.string(), totalCents: z.int() });

await using runtime = await openRuntime();
const rlm = runtime.rlm(chooseModel(() => block("SUBMIT(number=context.split()[1], totalCents=4950)")));
const { status, data } = await rlm.run({
  query: "Which invoice is this, and what is its total?",
  context: "Invoice 2024-117 of 3 May: 2 lamps, in total 49.50 EUR",
  schema: invoice,
});
// data: { number: string; totalCents: number }
if (data !== undefined) console.log(status, data.number, data.totalCents / 100);
