import { openRuntime } from "rlm-runtime";

await using runtime = await openRuntime();
await using session = await runtime.openSession();

const code = `
from IPython.display import HTML, SVG, display

sales = {"Oslo": 7, "Rome": 5}
display(HTML("".join(f"<li>{city}: {sold}</li>" for city, sold in sales.items())))
bars = "".join(f'<rect y="{12 * n}" width="{10 * sold}" height="10"/>' for n, sold in enumerate(sales.values()))
SVG(f'<svg xmlns="http://www.w3.org/2000/svg" width="80" height="24">{bars}</svg>')
`;
const execution = session.execute(code);

// As they appear, for a page that shows them at once.
for await (const event of execution) {
  if (event.type === "display") console.log("display:", Object.keys(event.data).join(", "));
}

// Or all at the end: displays in order, then the value of the last expression.
const { displays, value, html } = await execution;
console.log(displays.length, html);
console.log(Object.keys(value ?? {}).join(", "));
console.log(value?.["image/svg+xml"]?.slice(0, 60));
