// Folders of a container that are ours. Nothing is mounted over them.

/** No image has a volume there by accident. */
const RUNTIME_FOLDER = "/.rlm-runtime";
export const CODE_FOLDER = `${RUNTIME_FOLDER}/python`;
/** Where the container meets the host. */
export const MEETING = `${RUNTIME_FOLDER}/meeting`;
/** Where pipes have names if no folder is shared with the host. Files of the session cannot fill it. */
export const STREAMS = `${RUNTIME_FOLDER}/streams`;
/** Files of the session. */
export const BOX = "/box";
export const OWN_FOLDERS: readonly string[] = [BOX, RUNTIME_FOLDER];
