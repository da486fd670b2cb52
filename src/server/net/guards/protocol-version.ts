// The version of the API that a client speaks, where it says so.

import { PROTOCOL } from "../../../protocol/api/web-socket.ts";
import { VERSION } from "../../../util/version.ts";
import type { Problem } from "../problem.ts";

/** `sent`: the header `Rlm-Protocol`. Undefined: it is absent, or a version that this server speaks. */
export function checkProtocol(sent: string | undefined): Problem | undefined {
  if (sent === undefined || sent.trim() === String(PROTOCOL)) return undefined;
  const asked = /^\d{1,6}$/.test(sent.trim()) ? Number(sent) : undefined;
  const side = asked !== undefined && asked > PROTOCOL ? `the server (rlm-runtime ${VERSION})` : "the client";
  const detail = `The client speaks version '${sent.slice(0, 20)}' of the protocol, and this server speaks ${PROTOCOL}: update ${side}`;
  return { status: 400, code: "PROTOCOL_VERSION", detail };
}
