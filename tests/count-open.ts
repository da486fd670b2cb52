import { readdirSync, readlinkSync } from "node:fs";

/** How many descriptors of this process refer to a file. */
export function countOpen(path: string): number {
  const links = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return ""; // the one that lists them
    }
  });
  return links.filter((link) => link === path).length;
}
