// Files of a session: content in every form, names of every kind, and no way out of the working directory.

import type { FileWatch } from "../../../api/files.ts";
import { FileError, REPLSecurityError, RLMError } from "../../../errors.ts";
import type { FileChange } from "../../../protocol/files.ts";
import { check, equal, like, matches, rejects } from "../asserts.ts";
import type { ContractCase } from "../case.ts";
import { collect, toBytes, toText, valueOf } from "../drive.ts";
import { formsOf } from "./variables.ts";

const NAMES = [
  "with space.txt",
  "#hash",
  "100%.txt",
  "%2e%2e",
  "%2F",
  "what?.txt",
  "a&b=c",
  "back\\slash",
  "semi;colon",
  "naïve 漢字 🦆",
  "quote\"'`",
  "+plus",
  "~tilde",
  "-dash",
  "line\nbreak",
  "...",
  "a:b",
  "[x]{y}",
];

const notFound = { code: "FILE", reason: "not-found" };

/** Reads a watch until a change fits. */
async function untilChange(watch: FileWatch, fits: (change: FileChange) => boolean): Promise<readonly FileChange[]> {
  const seen: FileChange[] = [];
  for await (const change of watch) {
    seen.push(change);
    if (fits(change)) return seen;
  }
  throw new Error(`Expected another change after ${JSON.stringify(seen)}`);
}

export const FILES: readonly ContractCase[] = [
  {
    name: "content of every form is written, and read as bytes",
    async run({ openSession }) {
      const { files } = await openSession();
      const text = "naïve\r\n🦆\0";
      for (const [form, content] of formsOf(text)) {
        const entry = await files.write("deep/down/a.txt", content());
        matches(entry, { name: "a.txt", path: "deep/down/a.txt", type: "file", size: toBytes(text).length });
        const bytes = await files.read("deep/down/a.txt");
        equal(bytes, toBytes(text), `the file from ${form}`);
        check(bytes.constructor === Uint8Array, "the bytes must be a plain Uint8Array");
      }
      await files.write("empty", "");
      equal(await files.read("empty"), new Uint8Array(), "an empty file");
    },
  },
  {
    name: "files are shared with the code",
    async run({ openSession }) {
      const session = await openSession();
      await session.files.write("in.txt", "from outside");
      equal(await valueOf(session, "open('in.txt').read()"), "'from outside'", "what the code reads");
      await session.execute("open('out.txt', 'w').write('from inside')");
      equal(toText(await session.files.read("out.txt")), "from inside", "what the code wrote");
    },
  },
  {
    name: "a file is replaced at once, and a source that fails leaves it as it was",
    async run({ openSession }) {
      const { files } = await openSession();
      await files.write("a", "a longer old content");
      await files.write("a", "new");
      equal(toText(await files.read("a")), "new", "the content");
      async function* broken(): AsyncGenerator<string> {
        yield "half";
        throw new RangeError("the source broke");
      }
      await rejects(files.write("a", broken()), RangeError, { message: "the source broke" });
      equal(toText(await files.read("a")), "new", "the content after a failure");
      equal(
        (await files.list()).entries.map(({ name }) => name),
        ["a"],
        "the files",
      );
    },
  },
  {
    name: "a part of a file is read by offset and length",
    async run({ openSession }) {
      const { files } = await openSession();
      await files.write("a", "0123456789");
      const part = async (options: object): Promise<string> => toText(await files.read("a", options));
      equal(await part({ offset: 3 }), "3456789", "from an offset");
      equal(await part({ length: 3 }), "012", "up to a length");
      equal(await part({ offset: 8, length: 100 }), "89", "past the end");
      equal(await part({ offset: 10 }), "", "at the end");
      equal(await part({ offset: 100 }), "", "behind the end");
      equal(await part({ length: 0 }), "", "nothing");
      const streamed = await collect(files.readStream("a", { offset: 2, length: 3 }));
      equal(streamed.map(toText).join(""), "234", "the streamed part");
    },
  },
  {
    name: "a file that is larger than maxBytes is refused",
    async run({ openSession }) {
      const { files } = await openSession();
      await files.write("a", "12345");
      equal((await files.read("a", { maxBytes: 5 })).length, 5, "the size");
      await rejects(files.read("a", { maxBytes: 4 }), FileError, { code: "FILE", reason: "too-large" });
      equal((await files.read("a", { maxBytes: 2, length: 2 })).length, 2, "the size of a part");
    },
  },
  {
    name: "8 MiB are streamed in and out, and the stream is opened when it is read",
    async run({ openSession }) {
      const { files } = await openSession();
      const piece = new Uint8Array(1024 * 1024).map((_, i) => i % 251);
      async function* pieces(): AsyncGenerator<Uint8Array> {
        for (let i = 0; i < 8; i++) yield piece;
      }
      const stream = files.readStream("big");
      equal((await files.write("big", pieces())).size, 8 * piece.length, "the size");
      let position = 0;
      for await (const bytes of stream) {
        for (const at of [0, bytes.length - 1]) equal(bytes[at], piece[(position + at) % piece.length], "a byte");
        position += bytes.length;
      }
      equal(position, 8 * piece.length, "the size that was read");
      for await (const bytes of files.readStream("big")) {
        check(bytes.length > 0, "pieces must not be empty");
        break;
      }
      equal((await files.stat("big")).size, 8 * piece.length, "the size after leaving the loop");
    },
  },
  {
    name: "names may have any characters",
    async run({ openSession }) {
      const session = await openSession();
      const { files } = session;
      for (const name of NAMES) {
        const path = `dir ${name}/${name}`;
        matches(await files.write(path, name), { name, path });
        equal(toText(await files.read(path)), name, "the content");
        matches(await files.rename(path, `${path} moved`), { name: `${name} moved` });
        equal(
          (await files.list(`dir ${name}`)).entries.map((entry) => entry.name),
          [`${name} moved`],
          "the list",
        );
      }
      const [odd = ""] = NAMES;
      matches(await files.stat(`dir ${odd}/${odd} moved`), { name: `${odd} moved` });
      equal(await files.makeFolder(`${odd} #?%`), true, "whether it was made");
      await files.remove(`${odd} #?%`);
      equal(await files.exists(`${odd} #?%`), false, "whether it is there");
      equal(
        (await files.list()).entries.map(({ name }) => name).toSorted(),
        NAMES.map((name) => `dir ${name}`).toSorted(),
        "the folders",
      );
    },
  },
  {
    name: "list gives the entries of a folder, sorted, to a depth",
    async run({ openSession }) {
      const session = await openSession();
      const { files } = session;
      equal(await files.list(), { entries: [], omitted: 0 }, "an empty folder");
      for (const path of ["b.txt", "a/one.txt", "a/deep/two.txt", "c"]) await files.write(path, "x");
      await session.execute("import os; os.symlink('b.txt', 'link')");
      const paths = async (path?: string, depth?: number): Promise<readonly string[]> =>
        (await files.list(path, depth === undefined ? {} : { depth })).entries.map((entry) => entry.path);
      equal(await paths(), ["a", "b.txt", "c", "link"], "one level");
      equal(await paths(".", 2), ["a", "a/deep", "a/one.txt", "b.txt", "c", "link"], "two levels");
      equal(await paths("a", 3), ["a/deep", "a/deep/two.txt", "a/one.txt"], "below a folder");
      matches(await files.stat("link"), { type: "link", target: "b.txt", size: 0 });
      matches(await files.stat("a"), { type: "folder", size: 0 });
      like((await files.stat("c")).modifiedAt, /^\d{4}-\d\d-\d\dT.*Z$/, "a time");
      matches(await files.stat("."), { path: ".", type: "folder" });
    },
  },
  {
    name: "what is not there has the reason not-found, and exists says false",
    async run({ openSession, capabilities }) {
      const { files } = await openSession();
      await rejects(files.read("none"), FileError, { ...notFound, path: "none" });
      await rejects(collect(files.readStream("none")), FileError, notFound);
      await rejects(files.stat("no/thing"), FileError, notFound);
      await rejects(files.list("none"), FileError, notFound);
      await rejects(files.remove("none"), FileError, notFound);
      await rejects(files.rename("none", "x"), FileError, notFound);
      if (capabilities.watch) await rejects(files.watch("none"), FileError, notFound);
      equal(await files.exists("none"), false, "whether it is there");
    },
  },
  {
    name: "files and folders in each other's place are errors with their reasons",
    async run({ openSession }) {
      const { files } = await openSession();
      await files.write("file", "x");
      await files.makeFolder("folder");
      await rejects(files.read("folder"), FileError, { reason: "is-a-folder" });
      await rejects(files.write("folder", "x"), FileError, { reason: "is-a-folder" });
      await rejects(files.list("file"), FileError, { reason: "not-a-folder" });
      await rejects(files.write("file/below", "x"), FileError, { reason: "not-a-folder" });
      await rejects(files.makeFolder("file"), FileError, { reason: "exists" });
      equal(toText(await files.read("file")), "x", "the content");
    },
  },
  {
    name: "a path with a slash at its end names a folder, which cannot be written",
    async run({ openSession }) {
      const { files } = await openSession();
      await files.makeFolder("folder");
      for (const path of ["x/", "new/x/", "folder/", "./"])
        await rejects(files.write(path, "x"), FileError, { reason: "is-a-folder", path });
      equal(
        (await files.list()).entries.map(({ name }) => name),
        ["folder"],
        "what is there",
      );
    },
  },
  {
    name: "the path of a FileError is the one that was given",
    async run({ openSession, capabilities }) {
      const { files } = await openSession();
      await files.write("file", "x");
      for (const path of ["none", "./none", "a/../none", "a//none", "./file/below"]) {
        await rejects(files.read(path), FileError, { path });
        await rejects(collect(files.readStream(path)), FileError, { path });
        await rejects(files.stat(path), FileError, { path });
        await rejects(files.list(path), FileError, { path });
        await rejects(files.remove(path), FileError, { path });
        await rejects(files.rename(path, "x"), FileError, { path });
        if (capabilities.watch) await rejects(files.watch(path), FileError, { path });
      }
      for (const path of ["file", "./file", "file/below"]) {
        await rejects(files.makeFolder(path), FileError, { path });
        await rejects(files.makeFolder(`${path}/`), FileError, { path: `${path}/` });
        await rejects(files.list(path), FileError, { path });
      }
    },
  },
  {
    name: "folders are made with their parents, moved and removed with their content",
    async run({ openSession }) {
      const { files } = await openSession();
      equal(await files.makeFolder("a/b/c"), true, "whether it was made");
      equal(await files.makeFolder("a/b/c"), false, "whether it was made again");
      await files.write("a/b/c/file", "x");
      matches(await files.rename("a/b", "new/place"), { path: "new/place", type: "folder" });
      equal(toText(await files.read("new/place/c/file")), "x", "the content");
      await files.write("other", "old");
      await files.rename("new/place/c/file", "other");
      equal(toText(await files.read("other")), "x", "the content of what was replaced");
      await files.remove("new");
      equal(
        (await files.list()).entries.map(({ name }) => name),
        ["a", "other"],
        "what is left",
      );
    },
  },
  {
    name: "no path leads out of the working directory",
    async run({ openSession, capabilities }) {
      const session = await openSession();
      const { files } = session;
      await session.execute("import os; os.symlink('/etc', 'out'); os.symlink('/etc/hostname', 'host')");
      const security = { code: "SECURITY" };
      for (const path of ["../x", "/etc/passwd", "a/../../x", "out/passwd", "/"]) {
        await rejects(files.read(path), REPLSecurityError, security);
        await rejects(files.write(path, "x"), REPLSecurityError, security);
        await rejects(files.list(path), REPLSecurityError, security);
        await rejects(files.remove(path), REPLSecurityError, security);
        await rejects(files.rename(path, "here"), REPLSecurityError, security);
        await rejects(files.makeFolder(path), REPLSecurityError, security);
        await rejects(files.exists(path), REPLSecurityError, security);
        if (capabilities.watch) await rejects(files.watch(path), REPLSecurityError, security);
      }
      await rejects(files.read("host"), REPLSecurityError, security);
      await files.write("mine", "x");
      await rejects(files.rename("mine", "../x"), REPLSecurityError, security);
      await files.remove("host");
      equal(await files.exists("mine"), true, "whether the own file is there");
    },
  },
  {
    name: "absolute paths below the working directory are taken",
    async run({ openSession }) {
      const session = await openSession();
      const folder = (await valueOf(session, "import os; os.getcwd()"))?.slice(1, -1) ?? "";
      await session.files.write(`${folder}/a.txt`, "x");
      matches(await session.files.stat("./a.txt"), { path: "a.txt" });
    },
  },
  {
    name: "a watch reports changes, below subfolders on request",
    needs: ["watch"],
    async run({ openSession }) {
      const session = await openSession();
      const { files } = session;
      await files.makeFolder("deep");
      const watch = await files.watch(".", { recursive: true });
      await files.write("deep/a b#?.txt", "x");
      await files.rename("deep/a b#?.txt", "moved");
      await files.remove("moved");
      const seen = await untilChange(watch, ({ type, path }) => type === "removed" && path === "moved");
      check(
        seen.some(({ path }) => path === "deep/a b#?.txt"),
        "the new file must be reported",
      );
      await watch.close();
      await watch.close();
      equal(await collect(watch), [], "what a closed watch reports");
    },
  },
  {
    name: "a watch ends with the session, by its signal, and when its loop is left",
    needs: ["watch"],
    async run({ openSession }) {
      const session = await openSession();
      const { files } = session;
      const controller = new AbortController();
      const [aborted, left, watch] = [
        await files.watch(".", { signal: controller.signal }),
        await files.watch(),
        await files.watch(),
      ];
      const changes = [collect(aborted), collect(watch)];
      await files.write("first", "x");
      check((await untilChange(left, () => true)).length === 1, "the change must be reported");
      equal(await collect(left), [], "what a watch reports whose loop was left");
      controller.abort();
      await changes[0];
      await session.close();
      await changes[1];
    },
  },
  {
    name: "aborting a signal ends an operation, and what was being written is unchanged",
    async run({ openSession }) {
      const { files } = await openSession();
      await files.write("a", "old");
      const signal = AbortSignal.abort(new RangeError("enough"));
      for (const operation of [
        () => files.read("a", { signal }),
        () => files.write("a", "new", { signal }),
        () => files.list(".", { signal }),
        () => files.stat("a", { signal }),
        () => files.exists("a", { signal }),
        () => files.makeFolder("b", { signal }),
        () => files.rename("a", "b", { signal }),
        () => files.remove("a", { signal }),
        () => files.watch(".", { signal }),
        () => collect(files.readStream("a", { signal })),
      ])
        await rejects(operation(), RangeError, { message: "enough" });
      const controller = new AbortController();
      async function* slow(): AsyncGenerator<string> {
        yield "half";
        controller.abort(new RangeError("changed my mind"));
        await new Promise(() => {});
      }
      await rejects(files.write("a", slow(), { signal: controller.signal }), RangeError);
      equal(toText(await files.read("a")), "old", "the content");
    },
  },
  {
    name: "a disk that is full is an error, and the session lives on",
    async run({ openSession }) {
      const session = await openSession({ limits: { diskBytes: 2 * 1024 * 1024 } });
      const error = await rejects(session.files.write("big", new Uint8Array(8 * 1024 * 1024)), RLMError);
      check(error instanceof FileError, "the error must be a FileError");
      await session.files.write("small", "x");
      equal(
        (await session.files.list()).entries.map(({ name }) => name),
        ["small"],
        "the files",
      );
    },
  },
];
