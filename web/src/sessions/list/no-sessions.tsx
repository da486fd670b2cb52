// No sessions: what makes one, to copy.

import type { VNode } from "preact";
import { Empty } from "../../parts/empty.tsx";
import { CommandLine } from "../../parts/feedback/copy.tsx";

export function NoSessions(): VNode {
  const { origin, pathname } = location;
  const url = origin + pathname.replace(/\/+$/, "");
  return (
    <Empty title="No sessions">
      <p>A session is a Python interpreter that keeps its variables and files. Open one here, or from a terminal:</p>
      <CommandLine command="rlm sessions open" />
      <p>From any program:</p>
      <CommandLine command={`curl -X POST -H "Authorization: Bearer $RLM_TOKEN" ${url}/v1/sessions`} />
      <p>From TypeScript:</p>
      <CommandLine isCode command={`const runtime = await connectRuntime({ url: "${url}", token });`} />
    </Empty>
  );
}
