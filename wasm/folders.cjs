// The folders of the session in the file system that Python sees: its working directory, its temporary folder, and what is mounted.
//
// Everything else there is in memory. Python resolves symbolic links inside its own file system, so none leads to another folder of
// the process. Whether a folder can be written is decided by the sandbox around the process.
"use strict";

const { realpathSync } = require("node:fs");

exports.mountFolders = function mountFolders(FS, { folder, temporary, mounts }) {
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
