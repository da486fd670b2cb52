// A session over a WebSocket: all its events, and code, input and interrupts, on one connection.

import { WebSocket } from "ws";

const url = process.env["RLM_URL"] ?? "http://127.0.0.1:8000";
const headers = { authorization: `Bearer ${process.env["RLM_TOKEN"] ?? ""}` };

const response = await fetch(`${url}/v1/sessions`, { method: "POST", headers });
const { id } = (await response.json()) as { id: string };

// A browser cannot send the header: it gets a ticket with POST /v1/tickets and adds ?ticket=… to the address.
const socket = new WebSocket(`${url.replace("http", "ws")}/v1/sessions/${id}/ws`, { headers });
const send = (message: object): void => socket.send(JSON.stringify(message));

interface Message {
  type: string;
  executionId: string;
  text?: string;
  result?: { status: string };
}

await new Promise<void>((resolve, reject) => {
  socket.on("error", reject).on("close", () => resolve());
  socket.on("message", (data: Buffer) => {
    const message = JSON.parse(data.toString()) as Message;
    switch (message.type) {
      case "hello":
        return send({ type: "execute", code: "name = input('who? ')\nprint('Hello', name)" });
      case "input-start":
        return send({ type: "stdin", executionId: message.executionId, text: "Ada" });
      case "output-delta":
        return console.log(JSON.stringify(message.text));
      case "execution-end":
        console.log(message.result?.status);
        return socket.close();
    }
  });
});

await fetch(`${url}/v1/sessions/${id}`, { method: "DELETE", headers });
