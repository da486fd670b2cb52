// The server log: one line for each event, as JSON or for people.
//
// It never contains tokens, tickets, query strings, headers or values of environment variables, and code only at level `debug`.

import { pino, stdTimeFunctions } from "pino";
import { toTerminalText } from "../../util/text/terminal-text.ts";
import { LogWriter, type LogSink } from "./log-writer.ts";

export type LogLevel = "error" | "warn" | "info" | "debug";
export type LogFormat = "json" | "text";
export type Fields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Log {
  readonly isDebug: boolean;
  /** `event` is kebab-case, such as `session-open`. */
  write(level: LogLevel, event: string, fields?: Fields): void;
  /** Resolves when everything is written, or after 500 ms. */
  end(): Promise<void>;
}

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  readonly sink: LogSink;
}

const END_MS = 500;

export function openLog({ level, format, sink }: LogOptions): Log {
  const toLine = format === "json" ? (line: string): string => line : toText;
  const writer = new LogWriter(sink, (count) => {
    const dropped = { level: "warn", time: new Date().toISOString(), event: "log-lines-dropped", count };
    return toLine(`${JSON.stringify(dropped)}\n`);
  });
  const logger = pino(
    {
      level,
      base: null,
      messageKey: "event",
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => writer.write(toLine(line)) },
  );
  return {
    isDebug: level === "debug",
    write: (at, event, fields = {}) => logger[at](fields, event),
    end: () => writer.end(END_MS),
  };
}

/** `2026-01-01T12:00:00.000Z info request method=GET status=200`. Quoting keeps values on one line. */
function toText(line: string): string {
  const { time, level, event, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${toValue(value)}`);
  return `${[time, String(level).padEnd(5), event, ...pairs].join(" ")}\n`;
}

function toValue(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return /^[\w.:/{}+@-]+$/.test(text) ? text : JSON.stringify(toTerminalText(text));
}
