// Limits and constants of the conversation with a worker.

export const PROTOCOL_VERSION = 1;
/** The name of the call by which code asks for input. */
export const INPUT_CALL = "rlm:input";
/** One line from a file job. */
export const MAX_ANSWER_BYTES = 64 * 1024;
export const MAX_LINE_BYTES = 64 * 1024;
export const MAX_PAYLOAD_BYTES = 32 * 1024 * 1024;
/** Raw bytes behind one `chunk` message. */
export const MAX_CHUNK_BYTES = 1024 * 1024;
export const MAX_DEPTH = 64;
/** Values in one message. */
export const MAX_PARTS = 500_000;
/** Unexpected messages during one execution, and their bytes; past either the worker is killed. */
export const MAX_IGNORED = 10_000;
export const MAX_IGNORED_BYTES = 128 * 1024 * 1024;
/** Of the order of output, during one execution. More are unexpected messages. */
export const MAX_MARKS = 100_000;
export const MAX_DISPLAY_ID = 128;
export const MAX_CALL_NAME = 256;
/** Of one part of a table. */
export const MAX_ROWS = 500;
export const MAX_ROW_CELLS = 50;
