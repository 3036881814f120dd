import { systemError } from "../../base/errors";

/** What grpc-js notes of a failed connection: its time, and where the address came from. */
const CONNECTION_NOTES = /(?: \(\d{4}-\d\d-\d\dT[\d:.]+Z\))?\. Resolution note: $/;
/** Behind the seconds stand the stages that grpc-js measured. */
const DEADLINE = /Deadline exceeded after [\d.]+s.*/s;
const TOO_LARGE = /Received message larger than max \((\d+) vs (\d+)\)/;

/** Whether a call failed because its answer has more bytes than the client takes, by grpc-js' own words. */
export const isTooLarge = (error: unknown): boolean =>
  TOO_LARGE.test(String((Object(error) as { readonly details?: unknown }).details));

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
    return afterDeadline(timeoutMs) + why;
  });
}

/** Why no connection was made, as Node's socket said it and grpc-js has it in its text; else the error as it is. */
export function connectErrorOf(error: unknown): Error {
  const { details } = Object(error) as { readonly details?: unknown };
  const [text, errno] = /connect (E[A-Z0-9]+)/.exec(String(details)) ?? [];
  return errno === undefined ? (error as Error) : systemError(errno, text);
}

export const deadlineText = (timeoutMs: number): string => `4 DEADLINE_EXCEEDED: ${afterDeadline(timeoutMs)}`;

export const afterDeadline = (timeoutMs: number) => `Deadline exceeded after ${timeoutMs / 1000}s`;

const NOT_CONNECTED = "; no HTTP/2 connection by then: the server is slow, hangs, or does not speak HTTP/2";
