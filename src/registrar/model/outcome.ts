import { errnoOf, messageOf, RegistrarError } from "../../base/errors";
import { escapeUnprintable } from "../../logging/escape";

/** How a registration ended. */
export type RegistrationOutcome =
  /** Closed by its owner. */
  | { readonly kind: "stopped" }
  /** Kubelet refused the driver; `kubeletError` is kubelet's text, 4,096 characters at most, `hint` its likely cause if known. */
  | {
      readonly kind: "refused";
      readonly kubeletError: string;
      readonly hint: string | undefined;
      readonly error: RegistrarError;
    }
  /** It could not go on. */
  | { readonly kind: "failed"; readonly error: RegistrarError };

/** The outcome after something was thrown: system errors are the socket's, others a fault of ours. */
export function failedBy(thrown: unknown): RegistrationOutcome {
  if (thrown instanceof RegistrarError) return { kind: "failed", error: thrown };
  const code = errnoOf(thrown) ? "SOCKET_UNUSABLE" : "INTERNAL";
  return { kind: "failed", error: new RegistrarError(code, messageOf(thrown), { cause: thrown }) };
}

export function refusedFor(kubeletError: string, hint?: string): RegistrationOutcome {
  const text = `kubelet refused the driver: ${escapeUnprintable(kubeletError)}${hint === undefined ? "" : ` (${hint})`}`;
  return { kind: "refused", kubeletError, hint, error: new RegistrarError("REFUSED", text) };
}

/** Why a registration that ended with this outcome did not register the driver; `cause` is why its owner stopped it. */
export function errorOf(outcome: RegistrationOutcome, cause?: unknown): RegistrarError {
  if (outcome.kind !== "stopped") return outcome.error;
  return new RegistrarError("ABORTED", "closed before kubelet had registered the driver", { cause });
}
