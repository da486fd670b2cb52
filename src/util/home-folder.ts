import { homedir, userInfo } from "node:os";
import { isAbsolute } from "node:path";

/**
 * The user's home. The root where neither HOME nor an account names one, as in a container with `--user`. A HOME that is empty or
 * relative does not count: the current folder, which may be somebody else's project, would become the home.
 */
export function homeFolder(): string {
  try {
    const named = homedir();
    return isAbsolute(named) ? named : userInfo().homedir;
  } catch {
    return "/";
  }
}
