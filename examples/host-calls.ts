import { openRuntime } from "rlm-runtime";

await using runtime = await openRuntime();
await using session = await runtime.openSession({
  onCall: async ({ name, args }) => {
    if (name === "weather") return { city: args["city"], celsius: 21 };
    throw new Error(`no function named ${name}`);
  },
});

const code = `
import rlm_host
report = rlm_host.call("weather", city="Oslo")
report["celsius"]
`;
console.log((await session.execute(code)).text);
