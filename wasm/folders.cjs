// The folders of the session in the file system that Python sees: its working directory, its temporary folder, and what is mounted.
//
// Everything else there is in memory. Python resolves symbolic links inside its own file system, so none leads to another folder of
// the process. Whether a folder can be written is decided by the sandbox around the process.
"use strict";

const { realpathSync } = require("node:fs");

/** As Emscripten numbers it. */
const EACCES = 2;

/**
 * Emscripten gives a new file the mode that code asks for, which is 0666 as a rule: in a mounted folder everybody could write it. Returns
 * `umask()` of Python, since Node has none in other threads.
 */
exports.applyUmask = function applyUmask(FS) {
  let mask = process.umask();
  const { open, mkdir } = FS;
  FS.open = (path, flags, mode = 0o666) => open(path, flags, mode & ~mask);
  FS.mkdir = (path, mode = 0o777) => mkdir(path, mode & ~mask);
  return (wanted) => {
    const before = mask;
    mask = wanted & 0o777;
    return before;
  };
};

exports.mountFolders = function mountFolders(FS, { folder, temporary, mounts }) {
  reportRefusals(FS);
  for (const path of [folder, temporary, ...mounts]) {
    // A sandbox may show a mount elsewhere, with a link at its path.
    const root = realpathSync(path);
    if (!FS.analyzePath(root).exists) FS.mkdirTree(root);
    FS.mount(FS.filesystems.NODEFS, { root }, root);
    if (!FS.analyzePath(path).exists) {
      FS.mkdirTree(path.slice(0, path.lastIndexOf("/")) || "/");
      FS.symlink(root, path);
    }
  }
};

/**
 * Emscripten does not know the errors of Node's own, such as those of its permission model, and would take them for success. And it keeps
 * the entry of a file that could not be created.
 */
function reportRefusals(FS) {
  const { NODEFS } = FS.filesystems;
  const { convertNodeCode, node_ops: operations } = NODEFS;
  const { mknod } = operations;
  NODEFS.convertNodeCode = (error) => convertNodeCode(error) ?? EACCES;
  operations.mknod = (parent, name, mode, device) => {
    try {
      return mknod(parent, name, mode, device);
    } catch (error) {
      forget(FS, parent, name);
      throw error;
    }
  };
}

function forget(FS, parent, name) {
  try {
    FS.destroyNode(FS.lookupNode(parent, name));
  } catch {
    // it has no entry
  }
}
