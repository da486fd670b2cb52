// Folders of a container that are ours. Nothing is mounted over them.

/** Our code. An image is unlikely to have a folder or a volume there. */
export const CODE = "/.rlm-runtime";
/** Files of the session. */
export const BOX = "/box";
/** Where the container meets the host. */
export const MEETING = "/rlm";
