import { escapeJson } from "../logging/escape";
import { klogMessage } from "../logging/klog-text";
import type { EventStream, SimulatorEvent } from "../simulator/event-stream";

/** Reports every event of a simulated part, past and future: in JSON as an object, in text as the log does, behind the time. */
export function tellEvents<Event extends SimulatorEvent>(
  stream: EventStream<Event>,
  output: "text" | "json",
  whatItIs: string,
): void {
  const tell = (event: Event) => {
    if (output === "json") return writeLine(JSON.stringify(event));
    const { kind, atMs, ...fields } = event;
    const [clock] = new Date(atMs).toTimeString().split(" ");
    const ms = String(Math.trunc(atMs) % 1000).padStart(3, "0");
    writeLine(`${clock}.${ms}  ${klogMessage({ message: kind, error: undefined, fields })}`);
  };
  if (output === "text") writeLine(whatItIs);
  for (const event of stream.history()) tell(event);
  stream.subscribe(tell);
}

/** Writes to stdout; what could control a terminal is escaped. */
export function writeLine(line: string): void {
  process.stdout.write(`${escapeJson(line)}\n`);
}

/** Makes what writes objects as YAML documents. Loads the YAML library, because most runs print no object. */
export async function createObjectPrinter() {
  const { writeYaml } = await import("../kube-api/yaml");
  return (object: object) => writeLine(`---\n${writeYaml(object).trimEnd()}`);
}
