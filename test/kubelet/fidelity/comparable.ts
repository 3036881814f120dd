import type { Step } from "./step";

/**
 * The step without what differs each time it is taken: the folder that everything is in, percent-encoded in some
 * :authority; which end of a call saw its deadline pass first; and what the releases of grpc-go word differently.
 */
export function comparable<Part extends Pick<Step, "about" | "what">>(step: Part, folder: string): Part {
  return { ...step, about: comparableText(step.about, folder), what: comparableText(step.what, folder) };
}

function comparableText(text: string, folder: string): string {
  return text
    .replaceAll(folder, "NODE")
    .replaceAll(encodeURIComponent(folder), "NODE")
    .replace("desc = Deadline exceeded", "desc = context deadline exceeded")
    .replace("Error while dialing dial", "Error while dialing: dial")
    .replace("desc = transport is closing", "desc = error reading from server: EOF");
}
