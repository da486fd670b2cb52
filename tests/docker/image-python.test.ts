import { expect, test } from "vitest";
import { folderFor } from "./image-python.ts";

test("the Python of the test image is in the project, unless a container covers that", () => {
  expect(folderFor("/home/someone/project")).toBe("/home/someone/project/node_modules/.cache/rlm/docker-python");
  for (const project of ["/tmp/project", "/box/project"]) {
    expect(folderFor(project)).toMatch(/^\/var\/tmp\/rlm-docker-python-\d+$/);
  }
});
