// The programs that an image has beside Python: what people expect of a small Debian. Those that this machine lacks are left out.

const SHELLS = "bash sh dash env";
const COREUTILS =
  "[ b2sum base32 base64 basename cat chgrp chmod chown cksum comm cp csplit cut date dd df dir dirname du echo expand expr factor false fmt fold " +
  "groups head hostid id install join link ln logname ls md5sum mkdir mkfifo mktemp mv nice nl nohup nproc numfmt od paste pathchk pr printenv printf " +
  "ptx pwd readlink realpath rm rmdir seq sha1sum sha224sum sha256sum sha384sum sha512sum shred shuf sleep sort split stat stdbuf stty sum sync tac tail " +
  "tee test timeout touch tr true truncate tsort tty uname unexpand uniq unlink vdir wc who whoami yes";
const TEXT = "awk mawk gawk grep egrep fgrep sed diff cmp diff3 less file jq";
const FILES = "find xargs tar gzip gunzip zcat bzip2 bunzip2 xz unxz unzip zip";
const SYSTEM = "ps kill pgrep pkill free uptime which getopt hostname setsid flock";
const NETWORK = "git curl openssl";

export const PROGRAMS: readonly string[] = [SHELLS, COREUTILS, TEXT, FILES, SYSTEM, NETWORK].flatMap((names) =>
  names.split(" "),
);

/** What those programs start or read. */
export const PROGRAM_FOLDERS: readonly string[] = [
  "/usr/lib/git-core",
  "/usr/share/git-core/templates",
  "/usr/libexec/coreutils",
  "/usr/share/terminfo",
  "/lib/terminfo",
];
