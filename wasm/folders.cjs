// The folders of the session in the file system that Python sees: its working directory, its temporary folder, and what is mounted.
//
// Everything else there is in memory. Python resolves symbolic links inside its own file system, so none leads to another folder of
// the process. Whether a folder can be written is decided by the sandbox around the process.
"use strict";

exports.mountFolders = function mountFolders(FS, { folder, temporary, mounts }) {
  for (const path of [folder, temporary, ...mounts]) {
    if (!FS.analyzePath(path).exists) FS.mkdirTree(path); // it exists where it is below another of them
    FS.mount(FS.filesystems.NODEFS, { root: path }, path);
  }
};
