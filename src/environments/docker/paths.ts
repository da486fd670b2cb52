// Folders of a container that are ours. Nothing is mounted over them.

/** No image has a volume there by accident. */
const RUNTIME_FOLDER = "/.rlm-runtime";
export const CODE_FOLDER = `${RUNTIME_FOLDER}/python`;
/** With the socket that the container connects to, and named pipes. */
export const SOCKET_FOLDER = `${RUNTIME_FOLDER}/socket`;
/** Where pipes have names if no folder is shared with the host. Files of the session cannot fill it. */
export const PIPES_FOLDER = `${RUNTIME_FOLDER}/pipes`;
/** Files of the session. */
export const BOX = "/box";
export const OWN_FOLDERS: readonly string[] = [BOX, RUNTIME_FOLDER];
