/** The longest message of a client, the same on every transport, so that a call fits all of them or none. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
