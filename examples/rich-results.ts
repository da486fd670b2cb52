import { openRuntime } from "rlm-runtime";

await using runtime = await openRuntime();
await using session = await runtime.openSession();

const code = `
class Temperature:
    def __init__(self, celsius):
        self.celsius = celsius
    def __repr__(self):
        return f"{self.celsius} °C"
    def _repr_html_(self):
        return f"<b>{self.celsius}</b> °C"

display(Temperature(21))
Temperature(18)
`;
const result = await session.execute(code);
console.log(JSON.stringify(result.displays));
console.log(JSON.stringify(result.value));
console.log(result.text, result.html);
