// What sessions can do beyond running code, where this version has it.

import type { Runtime, Session } from "../../runtime.ts";

export interface SaveReport {
  readonly path: string;
  readonly sizeBytes: number;
  readonly names: readonly string[];
  readonly skipped: readonly { readonly name: string; readonly why: string }[];
}

interface FileEntry {
  readonly name: string;
  readonly path: string;
  readonly type: string;
  readonly size: number;
}

interface Files {
  list(path?: string): Promise<{ readonly entries: readonly FileEntry[]; readonly omitted: number }>;
  readTo(path: string, hostPath: string): Promise<{ readonly size: number }>;
  writeFrom(path: string, hostPath: string): Promise<FileEntry>;
}

export interface Abilities {
  readonly files?: Files;
  save?(path: string): Promise<SaveReport>;
  readonly loaded?: Pick<SaveReport, "names" | "skipped"> | null;
}

export function abilitiesOf(session: Session): Abilities {
  return session;
}

export interface RuntimeAbilities {
  loadSession?(path: string, options: object): Promise<Session>;
}

export function runtimeAbilitiesOf(runtime: Runtime): RuntimeAbilities {
  return runtime as unknown as RuntimeAbilities;
}

export function filesOf(session: Session): Files {
  const { files } = abilitiesOf(session);
  if (files === undefined) throw new Error("this version does not have it yet");
  return files;
}
