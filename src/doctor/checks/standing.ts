import type { RegistrationFacts, RegistrationReport } from "../facts";
import { isStuck, socketText } from "../words";

/** How one registration socket stands with kubelet. */
export type Standing = { readonly path: string } & (
  | { readonly kind: "blocked"; readonly fileType: string }
  | { readonly kind: "dead" }
  | { readonly kind: "unreachable"; readonly why: string; readonly isForbidden: boolean }
  | { readonly kind: "silent" }
  | { readonly kind: "failing"; readonly code: string; readonly message: string }
  /** Somebody answers, and tells nothing about kubelet. */
  | { readonly kind: "untold"; readonly name: string }
  | { readonly kind: "told"; readonly name: string; readonly report: RegistrationReport }
);

export function standingOf({ socket, info, report }: RegistrationFacts): Standing {
  const { path } = socket;
  if (socket.kind === "not-a-socket") return { kind: "blocked", path, fileType: socket.fileType };
  if (socket.kind === "not-accepting" && socket.errno === "ECONNREFUSED") return { kind: "dead", path };
  if (isStuck(socket)) return { kind: "silent", path };
  if (socket.kind !== "accepting") {
    const errno = "errno" in socket ? socket.errno : undefined;
    return { kind: "unreachable", path, why: socketText(socket), isForbidden: errno === "EACCES" };
  }
  if (info.kind !== "answered") {
    if (info.kind === "not-asked" || info.code === "DeadlineExceeded") return { kind: "silent", path };
    return { kind: "failing", path, code: info.code, message: info.message };
  }
  const { name } = info.value;
  return report === undefined ? { kind: "untold", path, name } : { kind: "told", path, name, report };
}
