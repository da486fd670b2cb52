// What a bundle had no room for, as the runtime lists it.

export interface Omitted {
  readonly type: string;
  readonly bytes: number;
}

const MAX_OMITTED = 20;
const MAX_CHARACTERS = 10_000;

/** Empty: nothing was left out, or the list is not one. */
export function readOmitted(content: string | undefined): readonly Omitted[] {
  if (content === undefined || content.length > MAX_CHARACTERS) return [];
  try {
    const list: unknown = JSON.parse(content);
    return Array.isArray(list) ? list.filter(isOmitted).slice(0, MAX_OMITTED) : [];
  } catch {
    return [];
  }
}

function isOmitted(item: unknown): item is Omitted {
  const { type, bytes } = (item ?? {}) as Partial<Record<keyof Omitted, unknown>>;
  return typeof type === "string" && type.length < 200 && typeof bytes === "number" && Number.isFinite(bytes);
}
