/** grpc-js notes the moment at which a connection failed, and where it got the address: here that is never news. */
const CONNECTION_NOTES = /(?: \(\d{4}-\d\d-\d\dT[\d:.]+Z\))?\. Resolution note: $/;
/** It measures what a call has waited, and for which of its own stages. */
const DEADLINE = /Deadline exceeded after [\d.]+s.*/s;

/** It refuses a message by its announced length. */
const TOO_LARGE = /Received message larger than max \((\d+) vs (\d+)\)/;

/**
 * The text of a failed call without times of day and measured milliseconds, so that equal failures read equal: the log
 * writes equal lines once a minute. A call that found no HTTP/2 connection until its deadline says so.
 */
export function failureText(text: string, timeoutMs: number): string {
  const withoutNotes = text
    .replace(CONNECTION_NOTES, "")
    .replace("Last error: Error: ", "Last error: ")
    .replace(TOO_LARGE, "the server misbehaves: its answer has $1 bytes, $2 is the most");
  const waited = DEADLINE.exec(withoutNotes)?.[0];
  if (waited === undefined) return withoutNotes;
  const why = waited.includes("Waiting for LB pick") ? ": connected, but nobody speaks HTTP/2 there" : "";
  return withoutNotes.replace(DEADLINE, `Deadline exceeded after ${timeoutMs / 1000}s${why}`);
}
