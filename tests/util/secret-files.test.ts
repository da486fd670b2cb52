import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findSecrets, isSecretFile } from "../../src/util/secret-files.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "rlm-secrets-")));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function write(...names: readonly string[]): void {
  for (const name of names) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), "");
  }
}

test.each([
  ".env",
  ".env.local",
  "prod.env",
  ".envrc",
  ".npmrc",
  "id_ed25519",
  "server.key",
  "cert.PEM",
  "credentials",
])("%s holds secrets", (name) => expect(isSecretFile(name)).toBe(true));

test.each([".env.example", "example.env", "env", "environment.py", "credentials.md", "keys.py", ".environment"])(
  "%s holds none",
  (name) => expect(isSecretFile(name)).toBe(false),
);

test("are found in every folder but those of dependencies", async () => {
  write(".env", "a/b/c/.env.local", "a/notes.env.md", "keys/.ssh/config", "node_modules/x/.env", ".git/.env");
  write("environment/pyvenv.cfg", "environment/certifi/cacert.pem");
  expect([...(await findSecrets(folder))].toSorted()).toEqual([".env", "a/b/c/.env.local", "keys/.ssh"]);
});

test("are what links of their names lead to, in the folder", async () => {
  write("config/production", "plain");
  symlinkSync("config/production", join(folder, ".env"));
  symlinkSync("/etc/hostname", join(folder, ".env.outside"));
  symlinkSync(".env.loop", join(folder, ".env.loop"));
  symlinkSync("plain", join(folder, "link"));
  expect(await findSecrets(folder)).toEqual(["config/production"]);
});

test("are found in folders whose names are not UTF-8", async () => {
  const odd = Buffer.concat([Buffer.from(`${folder}/caf`), Buffer.from([0xe9])]);
  mkdirSync(odd);
  writeFileSync(Buffer.concat([odd, Buffer.from("/.env")]), "");
  expect(await findSecrets(folder)).toEqual(["caf\u{E9}/.env"]);
});

test("may be in folders that are too deep to be searched, which count as a whole", async () => {
  const deep = Array.from({ length: 70 }, () => "d").join("/");
  write(`${deep}/.env`);
  expect(await findSecrets(folder)).toEqual([Array.from({ length: 65 }, () => "d").join("/")]);
});

test.skipIf(process.getuid?.() === 0)(
  "may be in a folder that cannot be listed (skipped for root, who can)",
  async () => {
    write("closed/.env");
    chmodSync(join(folder, "closed"), 0o111);
    expect(await findSecrets(folder)).toEqual(["closed"]);
    chmodSync(join(folder, "closed"), 0o755);
  },
);

test("are not listed where there are too many", async () => {
  for (let index = 0; index <= 1000; index += 1) writeFileSync(join(folder, `${index}.key`), "");
  await expect(findSecrets(folder)).rejects.toThrow("it has more than 1,000 files that hold secrets by their names");
});
