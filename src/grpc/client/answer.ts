/** What grpc-js notes of a failed connection: its time, and where the address came from. */
const CONNECTION_NOTES = /(?: \(\d{4}-\d\d-\d\dT[\d:.]+Z\))?\. Resolution note: $/;
/** Behind the seconds stand the stages that grpc-js measured. */
const DEADLINE = /Deadline exceeded after [\d.]+s.*/s;
const TOO_LARGE = /Received message larger than max \((\d+) vs (\d+)\)/;

/**
 * The text of a failed call without times of day and measured milliseconds, because the log writes equal lines once a
 * minute. It says where a call found no HTTP/2 connection before its deadline.
 */
export function callFailureText(text: string, timeoutMs: number): string {
  const withoutNotes = text
    .replace(CONNECTION_NOTES, "")
    .replace("Last error: Error: ", "Last error: ")
    .replace(TOO_LARGE, "the server misbehaves: its answer has $1 bytes, $2 is the most");
  return withoutNotes.replace(DEADLINE, (waited) => {
    const why = waited.includes("Waiting for LB pick") ? NOT_CONNECTED : "";
    return `Deadline exceeded after ${timeoutMs / 1000}s${why}`;
  });
}

const NOT_CONNECTED = "; no HTTP/2 connection by then: the server is slow, hangs, or does not speak HTTP/2";

/** The most fields of an answer that are decoded; the largest useful one has a few dozen. */
const MAX_FIELDS = 1_000;

/**
 * The beginning of a protobuf message, up to `MAX_FIELDS` fields: once decoded, a map's entry of 10 bytes takes 400. Returns
 * a message that is not protobuf as it is, because its decoder says what is wrong with it.
 */
export function firstFields(message: Buffer): Buffer {
  let fields = 0;
  for (const { at } of fieldsOf(message)) if (fields++ === MAX_FIELDS) return message.subarray(0, at);
  return message;
}

/** Where each field of a protobuf message and its value begin and end, up to an unknown wire type; a group's two tags count. */
export function* fieldsOf(message: Buffer) {
  let end = 0;
  const varint = () => {
    let value = 0;
    for (let factor = 1; end < message.length; factor *= 128) {
      const byte = message[end++] as number;
      value += (byte % 128) * factor;
      if (byte < 128) break;
    }
    return value;
  };
  while (end < message.length) {
    const at = end;
    const tag = varint();
    const wireType = tag % 8;
    const length = wireType === 2 ? varint() : { 0: 0, 1: 8, 3: 0, 4: 0, 5: 4 }[wireType];
    if (length === undefined) return;
    if (wireType === 0) varint();
    const start = end;
    end += length;
    yield { at, number: Math.floor(tag / 8), start, end };
  }
}
