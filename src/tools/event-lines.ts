import { escapeJson } from "../logging/escape";
import type { EventStream, SimulatorEvent } from "../simulator/event-stream";

/** Puts an event into one line of words; undefined if people need not see it. */
export type Narrator<Event> = (event: Event) => string | undefined;

/** Reports every event of a simulated part, past and future: in JSON as an object, in text as a line with the time. */
export function tellEvents<Event extends SimulatorEvent>(
  stream: EventStream<Event>,
  output: "text" | "json",
  narrate: Narrator<Event>,
): void {
  const tell = (event: Event) => {
    if (output === "json") return writeLine(JSON.stringify(event));
    const line = narrate(event);
    if (line !== undefined) writeLine(`${timeOfDay(event.atMs)}  ${line.replaceAll("\n", "\\n")}`);
  };
  for (const event of stream.history()) tell(event);
  stream.subscribe(tell);
}

/** Writes to stdout; what could control a terminal is escaped. */
export function writeLine(line: string): void {
  process.stdout.write(`${escapeJson(line)}\n`);
}

/** Makes what writes objects as YAML documents. Loads the YAML library, because most runs print no object. */
export async function createObjectPrinter() {
  const { stringify } = await import("yaml");
  return (object: object, comment?: string) => {
    writeLine("---");
    if (comment !== undefined) writeLine(`# ${comment}`);
    for (const line of stringify(object, { lineWidth: 0 }).trimEnd().split("\n")) writeLine(line);
  };
}

export function durationText(ms: number): string {
  if (ms >= 1000) return `${Math.round(ms / 100) / 10} s`;
  return ms >= 10 ? `${Math.round(ms)} ms` : `${Math.round(ms * 10) / 10} ms`;
}

function timeOfDay(atMs: number): string {
  const [clock] = new Date(atMs).toTimeString().split(" ");
  return `${clock}.${String(Math.trunc(atMs) % 1000).padStart(3, "0")}`;
}
