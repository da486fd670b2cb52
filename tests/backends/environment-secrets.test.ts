import { expect, test } from "vitest";
import { environmentSecrets } from "../../src/backends/environment-secrets.ts";

test("keys and tokens in the environment are secrets, under whatever prefix", () => {
  const secrets = {
    GOOGLE_VERTEX_API_KEY: "a-key-of-vertex",
    AWS_SECRET_ACCESS_KEY: "a-key-of-amazon",
    AWS_SESSION_TOKEN: "a-token-of-amazon",
    AWS_BEARER_TOKEN_BEDROCK: "a-token-of-bedrock",
  };
  const others = { AWS_REGION: "eu-central-1-of-amazon", SHORT_API_KEY: "short", HOME: "/home/somebody" };
  expect(environmentSecrets({ ...secrets, ...others })).toEqual(Object.values(secrets));
});
