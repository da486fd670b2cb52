// The engine that tests of the `docker` environment use.

import { createConnection } from "node:net";
import { text } from "node:stream/consumers";

/** `why`: there is none. */
export type EngineAnswer = { readonly host: string } | { readonly why: string };

/**
 * The first call of a run starts it, which takes about half a second. With RLM_REQUIRE_DOCKER=1 it throws if there is none; otherwise tests
 * skip with the reason.
 */
export async function findDockerEngine(): Promise<EngineAnswer> {
  const path = process.env["RLM_TEST_DOCKER_SOCKET"];
  if (path === undefined) throw new Error("tests/docker/test-engine.ts has not run");
  const answer = JSON.parse(await text(createConnection(path))) as EngineAnswer;
  if ("why" in answer && process.env["RLM_REQUIRE_DOCKER"] === "1")
    throw new Error(`RLM_REQUIRE_DOCKER is set, and there is no Docker engine: ${answer.why}`);
  return answer;
}
