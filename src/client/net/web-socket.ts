// WebSockets, as far as they are used here: those of browsers, of Node 22, Deno and Bun, and of the package `ws`.

/** A WebSocket, as far as it is used here. */
export interface WebSocketLike {
  /** 0 to 3: connecting, open, closing, closed. */
  readonly readyState: number;
  /** Sends a message. */
  send(data: string): void;
  /** Begins to close it. */
  close(): void;
  // One overload per event: that of `ws` is not assignable to one for all of them.
  /** Receives messages. */
  addEventListener(type: "message", listener: (event: { readonly data?: unknown }) => void): void;
  /** Called when it is closed. */
  addEventListener(type: "close", listener: (event: { readonly code?: number }) => void): void;
  /** Called when it is open, or failed. */
  addEventListener(type: "open" | "error", listener: () => void): void;
}

/** Opens a WebSocket. */
export type WebSocketConstructor = new (url: string) => WebSocketLike;

/** An open socket does not keep a Node process alive, where the implementation allows that: `ws` does, that of Node does not. */
export function unrefSocket(socket: WebSocketLike): void {
  (socket as { readonly _socket?: { unref?: () => void } })._socket?.unref?.();
}
