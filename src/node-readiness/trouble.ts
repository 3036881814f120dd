import type { ApiFailure } from "../kube-api/failure";
import type { Logger } from "../logging/logger";

/** A failure of requests to the API server that lasts. */
export interface Trouble {
  readonly kind: ApiFailure["kind"];
  /** What the registrar was doing. */
  readonly doing: string;
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/**
 * Collects the current failures. Each kind is logged once, and their end when none is left. `rules` are those of a
 * ClusterRole that allow every request, as YAML to paste.
 */
export function createTroubles(parentLog: Logger, nodeName: string, rules: string) {
  const log = parentLog.named("node-readiness");
  /** By part, with its beginning by a monotonic clock. */
  const lasting = new Map<string, Trouble & { readonly from: number }>();
  const failures: Record<string, number> = {};

  return {
    /** Records how the latest request of a part ended: `failure` is undefined for a success. */
    note: (part: string, doing: string, failure: ApiFailure | undefined): void => {
      const before = lasting.get(part);
      if (failure === undefined) {
        lasting.delete(part);
        if (before !== undefined && lasting.size === 0)
          log.info("API server requests for node readiness succeed again", {
            doing,
            after: `${Math.round((performance.now() - before.from) / 1000)}s`,
          });
        return;
      }
      const { kind, message } = failure;
      failures[kind] = (failures[kind] ?? 0) + 1;
      const isLogged = [...lasting.values()].some((trouble) => trouble.kind === kind);
      const now = { since: Date.now(), from: performance.now() };
      const { since, from } = before?.kind === kind ? before : now;
      lasting.set(part, { kind, doing, message, since, from });
      if (isLogged) return;
      const check = adviceOn(failure, nodeName, rules);
      log.warn("API server request for node readiness failed, will retry; registration is not affected", {
        doing,
        err: message,
        ...(check !== undefined && { check }),
      });
    },
    get current(): Trouble | undefined {
      return [...lasting.values()].sort((one, other) => one.from - other.from)[0];
    },
    /** The number of failures since the start, by kind. */
    failures,
  };
}

function adviceOn({ kind, message }: ApiFailure, nodeName: string, rules: string): string | undefined {
  const isOfPolicy = kind === "forbidden" && /admission|polic/i.test(message);
  if (isOfPolicy)
    return `does the policy allow this taint, and is the pod's token bound to node ${nodeName}?`;
  const advice: Partial<Record<ApiFailure["kind"], string>> = {
    unreachable: "does the API server run, can this pod reach it, and does its certificate fit the CA here?",
    "no-credentials": "is the service account's token mounted (automountServiceAccountToken: true)?",
    unauthorized: "is the token of this cluster, not expired, and does its service account still exist?",
    forbidden: `bind the service account to a ClusterRole with these rules: ${rules}`,
    "not-found": `is there a Node ${JSON.stringify(nodeName)}? Its name must be the pod's spec.nodeName`,
    conflict: "who else writes to this Node all the time, or what admission rule refuses the patch?",
  };
  return advice[kind];
}
