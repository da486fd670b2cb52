/** Thrown in a node where to go on would be of no use. The node ends with the best answer that there is; the message says why. */
export class NoProgress extends Error {}
