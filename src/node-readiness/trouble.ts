import type { Logger } from "../logging/logger";
import type { ApiFailure } from "./api/failure";

/** What keeps the API server from doing what is asked of it. */
export interface Trouble {
  readonly kind: ApiFailure["kind"];
  readonly doing: string;
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** Logs each trouble with the API server once, and once that it is over. */
export interface Troubles {
  /** `failure` is undefined where it went well. */
  note(part: string, doing: string, failure: ApiFailure | undefined): void;
  /** The oldest that lasts. */
  readonly current: Trouble | undefined;
  /** How many failures there were of each kind. */
  readonly failures: Readonly<Record<string, number>>;
}

/** What there is to know for good advice. */
export interface TroubleContext {
  readonly log: Logger;
  readonly nodeName: string;
  /** The rules of a ClusterRole that allow everything that is asked for, as YAML to paste. */
  readonly rules: string;
}

/** Makes a teller that has nothing to tell. Parts of the work tell their own troubles; two with one cause tell it once. */
export function createTroubles({ log: parentLog, ...context }: TroubleContext): Troubles {
  const log = parentLog.named("node-readiness");
  const lasting = new Map<string, Trouble>();
  const failures: Record<string, number> = {};

  return {
    note: (part, doing, failure) => {
      const before = lasting.get(part);
      if (failure === undefined) {
        lasting.delete(part);
        if (before !== undefined && lasting.size === 0)
          log.info("API server does what it is asked for again", {
            doing,
            after: `${Math.round((Date.now() - before.since) / 1000)}s`,
          });
        return;
      }
      const { kind, message } = failure;
      failures[kind] = (failures[kind] ?? 0) + 1;
      const isTold = [...lasting.values()].some((trouble) => trouble.kind === kind);
      const since = before?.kind === kind ? before.since : Date.now();
      lasting.set(part, { kind, doing, message, since });
      if (!isTold)
        log.warn(
          "API server does not do what the node's readiness needs, trying again; the registration stands",
          {
            doing,
            err: message,
            ...adviceOn(failure, context),
          },
        );
    },
    get current() {
      return [...lasting.values()].sort((one, other) => one.since - other.since)[0];
    },
    failures,
  };
}

function adviceOn(
  { kind, message }: ApiFailure,
  { nodeName, rules }: Pick<TroubleContext, "nodeName" | "rules">,
): { readonly check?: string } {
  switch (kind) {
    case "unreachable":
      return {
        check: "does the API server run, can this pod reach it, and does its certificate fit the CA here?",
      };
    case "no-credentials":
      return { check: "is the service account's token mounted (automountServiceAccountToken: true)?" };
    case "unauthorized":
      return {
        check: "is the token of this cluster, not expired, and does its service account still exist?",
      };
    case "forbidden":
      return /admission|polic/i.test(message)
        ? { check: `does the policy allow this taint, and is the pod's token bound to node ${nodeName}?` }
        : { check: `bind the service account to a ClusterRole with these rules: ${rules}` };
    case "not-found":
      return {
        check: `is there a Node ${JSON.stringify(nodeName)}? Its name must be the pod's spec.nodeName`,
      };
    case "conflict":
      return {
        check: "who else writes to this Node all the time, or what admission rule refuses the patch?",
      };
    case "expired":
    case "unavailable":
    case "unexpected":
      return {};
    default:
      return kind satisfies never;
  }
}
