// Images of sessions that are not needed any more: their base has no name left, or newer ones have taken their place. Each of them keeps all
// files of its base on the engine's disk. A base that `rlm env add docker` has built and replaced goes with the last of them. A runtime whose
// image is removed builds it again.

import * as z from "zod";
import type { Engine } from "./engine/engine.ts";
import { EngineError } from "./engine/errors.ts";
import { findImage, removeNameless } from "./images.ts";
import { KIND } from "./labels.ts";

export const BASE_LABEL = "dev.rlm-runtime.base";
/** Images of other versions of our code, or of other bases: programs may take turns. */
const KEPT = 4;
const MAX_LOOKED_AT = 100;
const LIMIT_MS = 20_000;

const listed = z.object({
  Id: z.string().regex(/^[\w:]{1,200}$/),
  Created: z.number(),
  Labels: z.record(z.string(), z.string()).nullish(),
});

interface StaleImage {
  readonly id: string;
  readonly base: string | undefined;
}

/** Called when an image was built, which happens seldom. Images that a container uses stay. Never rejects. */
export async function removeStaleImages(engine: Engine, current: string, signal: AbortSignal): Promise<void> {
  try {
    for (const { id, base } of await findStale(engine, current, signal)) {
      await removeImage(engine, id, signal);
      if (base !== undefined) await removeNameless(engine, base, signal);
    }
  } catch {
    // the next time
  }
}

async function findStale(engine: Engine, current: string, signal: AbortSignal): Promise<readonly StaleImage[]> {
  const filters = JSON.stringify({ label: [`${KIND}=worker`] });
  const found = await engine.call("GET", "/images/json", { query: { filters }, signal, limitMs: LIMIT_MS });
  const images = (Array.isArray(found) ? found : [])
    .flatMap((each) => listed.safeParse(each).data ?? [])
    .filter(({ Id }) => Id !== current)
    .toSorted((a, b) => b.Created - a.Created)
    .slice(0, MAX_LOOKED_AT);
  let kept = 0;
  const stale: StaleImage[] = [];
  for (const { Id, Labels } of images) {
    const base = Labels?.[BASE_LABEL];
    const isUsable = base !== undefined && (await findImage(engine, base, signal))?.isNamed === true;
    if (isUsable && kept < KEPT) kept += 1;
    else stale.push({ id: Id, base });
  }
  return stale;
}

async function removeImage(engine: Engine, id: string, signal: AbortSignal): Promise<void> {
  try {
    await engine.call("DELETE", `/images/${id}`, { signal, limitMs: LIMIT_MS });
  } catch (error) {
    if (!(error instanceof EngineError)) throw error; // else a container uses it
  }
}
