// Uploads that say how far they are. `fetch` does not, so a request whose body somebody follows is sent by XMLHttpRequest.

type Listener = (sentBytes: number) => void;

/** Statuses whose responses have no body. */
const EMPTY = new Set([204, 205, 304]);

export class UploadProgress {
  readonly #listeners = new WeakMap<Blob, Listener>();

  /** Reports how much of a body was sent, whenever it is sent. Dispose to stop. */
  follow(body: Blob, listener: Listener): Disposable {
    this.#listeners.set(body, listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(body) };
  }

  /** As `fetch` does. Undefined: nobody follows this body. */
  send(url: string, { method = "GET", headers, body, signal }: RequestInit): Promise<Response> | undefined {
    const listener = body instanceof Blob ? this.#listeners.get(body) : undefined;
    if (listener === undefined || !(body instanceof Blob)) return undefined;
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      const abort = (): void => request.abort();
      const isAborted = (): boolean => signal?.aborted === true;
      request.open(method, url);
      request.responseType = "arraybuffer";
      new Headers(headers).forEach((value, name) => request.setRequestHeader(name, value));
      request.upload.addEventListener("progress", ({ loaded }) => listener(loaded));
      request.addEventListener("load", () => resolve(toResponse(request)));
      request.addEventListener("error", () => reject(new TypeError("Failed to send the file")));
      request.addEventListener("abort", () => reject(signal?.reason ?? new DOMException("Aborted", "AbortError")));
      request.addEventListener("loadend", () => signal?.removeEventListener("abort", abort));
      signal?.addEventListener("abort", abort, { once: true });
      if (isAborted()) reject(signal?.reason);
      else request.send(body);
    });
  }
}

function toResponse(request: XMLHttpRequest): Response {
  const { status, statusText } = request;
  const headers = new Headers();
  for (const line of request
    .getAllResponseHeaders()
    .trim()
    .split(/[\r\n]+/)) {
    const at = line.indexOf(":");
    if (at > 0) headers.append(line.slice(0, at).trim(), line.slice(at + 1).trim());
  }
  const body = EMPTY.has(status) ? null : (request.response as ArrayBuffer);
  return new Response(body, { status, statusText, headers });
}
