// What sessions share: the server, and the order of calls.

import type { Requests } from "../net/requests.ts";
import type { CallOrders } from "../work/call-order.ts";
import type { WebSocketConstructor } from "../net/web-socket.ts";

export interface Server {
  readonly requests: Requests;
  readonly orders: CallOrders;
  /** Undefined: this platform has none, and none was given. */
  readonly WebSocket: WebSocketConstructor | undefined;
}
