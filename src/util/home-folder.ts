import { homedir } from "node:os";

/** The user's home. The root where neither HOME nor an account names one, as in a container with `--user`. */
export function homeFolder(): string {
  try {
    return homedir();
  } catch {
    return "/";
  }
}
