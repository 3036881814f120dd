import { MAX_SOCKET_PATH_BYTES } from "../../unix/socket-path";

/** What is wrong with a path of so many bytes. */
export function tooLong(bytes: number): string {
  return `has ${bytes} bytes, a unix socket path may have ${MAX_SOCKET_PATH_BYTES}`;
}

/** The architectures for which this registrar's image is built. */
export const OUR_ARCHITECTURES: readonly string[] = ["amd64", "arm64"];

/** What to do about a driver without a CSIDriver object: Kubernetes then attaches its volumes first. */
export const APPLY_CSI_DRIVER = "apply one with its name: registrar manifest --include=csidriver writes it";

/** `1 node`, `5,000 nodes`. */
export function counted(count: number, one: string): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : `${one}s`}`;
}

const NAMED = 3;

/** `2 pods (default/a, default/b)`, with the first names only. */
export function podsText(pods: readonly string[]): string {
  const more = pods.length > NAMED ? ", ..." : "";
  return `${counted(pods.length, "pod")} (${pods.slice(0, NAMED).join(", ")}${more})`;
}

/** Whether a text has placeholders, which an installer or kubelet will fill in. */
export function isTemplate(text: string): boolean {
  return /\{\{|\}\}|\$\(|\$\{|<[^<>]*>|\$[A-Z]/.test(text);
}
