// A minimal client, so that the server dominates the measurement: one connection, one request at a time, responses with a
// Content-Length.

import { connect } from "node:net";

export async function openHTTPClient(url, token) {
  const { hostname, port, host } = new URL(url);
  const socket = connect({ host: hostname, port, noDelay: true });
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  let waiting;
  let got = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    got = got.length === 0 ? chunk : Buffer.concat([got, chunk]);
    const end = got.indexOf("\r\n\r\n");
    if (end === -1) return;
    const head = got.latin1Slice(0, end);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
    if (Number.isNaN(length)) throw new Error(`an answer without a length:\n${head}`);
    if (got.length < end + 4 + length) return;
    const body = got.utf8Slice(end + 4, end + 4 + length);
    got = got.subarray(end + 4 + length);
    const { resolve, reject } = waiting;
    if (head.startsWith("HTTP/1.1 2")) resolve(body);
    else reject(new Error(`${head.split("\r\n", 1)[0]} ${body.slice(0, 300)}`));
  });
  socket.on("close", () => waiting?.reject(new Error("the connection was closed")));
  const request = (method, path, body = "") => {
    socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    return new Promise((resolve, reject) => {
      waiting = { resolve, reject };
    });
  };
  const close = () => {
    waiting = undefined;
    socket.destroy();
  };
  return { request, close };
}
