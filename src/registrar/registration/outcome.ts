import { errnoOf, messageOf, RegistrarError } from "../../errors";

/** How a registration ended. */
export type RegistrationOutcome =
  /** Closed by its owner. */
  | { readonly kind: "stopped" }
  /** Kubelet refused the driver; `error` is kubelet's text, verbatim. */
  | { readonly kind: "refused"; readonly error: string }
  /** It could not go on. */
  | { readonly kind: "failed"; readonly error: RegistrarError };

/** The outcome after something was thrown: system errors are the socket's, others a fault of ours. */
export function failedBy(thrown: unknown): RegistrationOutcome {
  if (thrown instanceof RegistrarError) return { kind: "failed", error: thrown };
  const code = errnoOf(thrown) ? "SOCKET_UNUSABLE" : "INTERNAL";
  return { kind: "failed", error: new RegistrarError(code, messageOf(thrown), { cause: thrown }) };
}

/** Why a registration that ended with this outcome did not register the driver. */
export function errorOf(outcome: RegistrationOutcome): RegistrarError {
  switch (outcome.kind) {
    case "stopped":
      return new RegistrarError("ABORTED", "closed before kubelet had registered the driver");
    case "refused":
      return new RegistrarError("REFUSED", `kubelet refused the driver: ${outcome.error}`);
    case "failed":
      return outcome.error;
    default:
      return outcome satisfies never;
  }
}
