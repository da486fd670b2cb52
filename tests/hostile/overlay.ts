// File systems that cannot show another owner, mounted for tests. Only root can.

import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Place {
  /** Makes a folder of mode 0700 with a file `own` of mode 0600 in it, both of this user and group. */
  make(name: string, owner: number, on?: "overlay" | "tmpfs"): string;
  remove(): void;
}

/** An overlayfs beside a tmpfs. Undefined where this user cannot mount them. */
export function mountOverlay(): Place | undefined {
  const base = mkdtempSync(join(tmpdir(), "hostile-overlay-"));
  const [lower, upper, work, overlay, plain] = ["lower", "upper", "work", "overlay", "tmpfs"].map((name) =>
    join(base, name),
  ) as [string, string, string, string, string];
  const isMounted = mount("-t", "tmpfs", "tmpfs", base);
  for (const path of [lower, upper, work, overlay, plain]) mkdirSync(path);
  const layers = `lowerdir=${lower},upperdir=${upper},workdir=${work}`;
  const place: Place = {
    make(name, owner, on = "overlay") {
      const folder = join(on === "overlay" ? overlay : plain, name);
      mkdirSync(folder);
      const own = join(folder, "own");
      writeFileSync(own, "private");
      chmodSync(own, 0o600);
      chmodSync(folder, 0o700);
      for (const path of [own, folder]) chownSync(path, owner, owner);
      return folder;
    },
    remove() {
      if (isMounted) spawnSync("umount", ["--recursive", base]);
      rmSync(base, { recursive: true, force: true });
    },
  };
  if (isMounted && mount("-t", "overlay", "overlay", "-o", layers, overlay)) return place;
  place.remove();
  return undefined;
}

/** Shows a folder by FUSE. False: this machine cannot, or has no bindfs. */
export function mountByFuse(source: string, target: string): boolean {
  mkdirSync(target, { recursive: true });
  return spawnSync("bindfs", [source, target]).status === 0;
}

function mount(...options: readonly string[]): boolean {
  return spawnSync("mount", options).status === 0;
}
