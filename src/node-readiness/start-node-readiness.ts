import { messageOf } from "../base/errors";
import { createWakeUp } from "../base/pause";
import { createApiClient } from "../kube-api/client";
import { type ApiFailure, isRefusal, retryMs } from "../kube-api/failure";
import type { Logger } from "../logging/logger";
import { refuseAborted, type StartOptions } from "../options/start-options";
import { type ConditionStatus, createConditionKeeper } from "./condition-keeper";
import { createCsiNodeStore } from "./csi-node";
import { CSI_NODE_PACE, type CsiNodeStatus, createCsiNodeKeeper } from "./csi-node-keeper";
import { fillIn } from "./driver-template";
import { earliest, type Pass } from "./keeper";
import { createKnownNode } from "./known-node";
import { createNodeApi, type NodeAnswer, neededRules } from "./node-api";
import { startNodeWatch, WATCH_PACE } from "./node-watch";
import type { ObservedRegistration } from "./observed-registrations";
import { type NodeReadinessOptions, resolveNodeReadinessOptions } from "./options";
import { createTaintKeeper, TAINT_PACE, type TaintStatus } from "./taint-keeper";

/** A failure of requests to the API server that lasts. */
export interface ApiTrouble {
  /** What kind of failure it is. */
  readonly kind: ApiFailure["kind"];
  /** What the registrar was doing. */
  readonly doing: string;
  /** For people. */
  readonly message: string;
  /** When it began, in milliseconds since the epoch. */
  readonly failedAtMs: number;
}

/** The current state of a node's readiness. */
export interface NodeReadinessStatus {
  /** The Node that is kept in step. */
  readonly nodeName: string;
  /** The requests to the API server. */
  readonly api: {
    /** Requests since the start, watches included. */
    readonly calls: number;
    /** How many of them failed, by the `kind` of trouble; one that never occurred is absent. */
    readonly failures: Readonly<Record<string, number>>;
    /** Undefined while every request succeeds. */
    readonly trouble: ApiTrouble | undefined;
  };
  /** Those that were asked for, one for each driver. */
  readonly taints: readonly TaintStatus[];
  /** Those that were asked for. */
  readonly conditions: readonly ConditionStatus[];
  /** The drivers that have been registered. */
  readonly csiNode: readonly CsiNodeStatus[];
}

/** The running node readiness of one node. */
export interface NodeReadiness extends AsyncDisposable {
  /** Where the taints, the condition and CSINode stand, and what the API server refuses. */
  status(): NodeReadinessStatus;
  /** Resolves, never rejects, when all is over and nothing is left behind. */
  readonly closed: Promise<{ readonly kind: "stopped" }>;
  /**
   * Stops, and leaves the Node as it is. Always the same promise. It aborts the requests under way at once, so that there is no
   * `destroy()`. What node readiness does are lines of its log and fields of `status()`, no events: a request may be repeated.
   */
  close(): Promise<{ readonly kind: "stopped" }>;
}

/**
 * Removes startup taints from the node when kubelet has registered their drivers, and keeps a condition in the Node's
 * status, until `close()` or `signal`. It makes kubelet register a driver again that CSINode lacks; no failure of the API
 * server affects the registrations otherwise. Rejects with INVALID_OPTION, and with ABORTED where it was stopped before.
 */
export async function startNodeReadiness(options: NodeReadinessOptions): Promise<NodeReadiness> {
  const resolved = resolveNodeReadinessOptions(options);
  refuseAborted("node readiness", resolved.signal);
  return runNodeReadiness(resolved);
}

type RunOptions = Omit<ReturnType<typeof resolveNodeReadinessOptions>, "signal"> &
  Pick<StartOptions, "signal">;

const PACE = { watch: WATCH_PACE, taint: TAINT_PACE, csiNode: CSI_NODE_PACE };

/** Starts with options that were checked; tests give a shorter `pace`. */
export function runNodeReadiness(options: RunOptions, pace?: Partial<typeof PACE>): NodeReadiness {
  const { registrations, logger: log, nodeName, startupTaints, condition } = options;
  const paces = { ...PACE, ...pace };
  const stop = new AbortController();
  const { signal } = stop;
  const changed = createWakeUp();
  const rests = createRests();
  const client = createApiClient(options.access);
  const api = createNodeApi(client, nodeName);
  const node = createKnownNode(api, changed.call);
  const csiNode = createCsiNodeStore();
  const troubles = createTroubles(log, (failure) => adviceOn(failure, options));
  const keepers = {
    taints: createTaintKeeper(startupTaints, log, paces.taint),
    ...(condition !== undefined && {
      condition: createConditionKeeper(condition, options.conditionDelayMs, log),
    }),
    CSINode: createCsiNodeKeeper(log, paces.csiNode),
  };
  const warnOfNames = createNameWarning(startupTaints.map(({ key }) => key).concat(condition ?? []), log);
  const watch = startNodeWatch({
    ...{ api, node, signal, pace: paces.watch },
    onHealth: (answer) => {
      troubles.note("watch", answer);
      if (answer.kind === "failed") return;
      rests.end((failure) => !isRefusal(failure));
      changed.call();
    },
  });

  let registeredAts: readonly (number | undefined)[] = [];
  const unsubscribe = registrations.subscribe(() => {
    const before = registeredAts;
    registeredAts = registrations.all().map(({ registeredAtMs }) => registeredAtMs);
    if (registeredAts.some((at) => at !== undefined && !before.includes(at))) {
      // Kubelet has just written CSINode: the API server is there.
      rests.end();
      watch.hurry();
    }
    changed.call();
  });

  const run = async () => {
    while (!signal.aborted) {
      csiNode.seeNode(node.now);
      let reading: ReturnType<typeof csiNode.read> | undefined;
      const readCsiNode = () => (reading ??= csiNode.read(api, signal));
      const pass: Pass = { node, signal, now: performance.now(), csiNode, readCsiNode };
      const all = registrations.all();
      warnOfNames(all);
      const waits: (number | undefined)[] = [];
      for (const [part, keeper] of Object.entries(keepers)) {
        const restMs = rests.of(part);
        if (restMs > 0) {
          waits.push(restMs);
          continue;
        }
        // A Node whose fields are not what they should be must not end the process.
        const answer = await keeper.pass(all, pass).catch((error) => {
          const failure = { kind: "unexpected", message: messageOf(error) } as const;
          return { kind: "failed", doing: part, failure } as const;
        });
        if (signal.aborted) return;
        troubles.note(part, answer);
        waits.push(answer.kind === "done" ? answer.value : rests.begin(part, answer.failure));
        if (answer.kind === "done") rests.forget(part);
      }
      await changed.wait(signal, earliest(...waits));
    }
  };

  const closed = Promise.all([run(), watch.ended]).then(() => {
    client.close();
    return { kind: "stopped" } as const;
  });
  const close = () => {
    options.signal?.removeEventListener("abort", close);
    unsubscribe();
    stop.abort();
    return closed;
  };
  options.signal?.addEventListener("abort", close);
  return {
    status: () => {
      const all = registrations.all();
      return {
        nodeName,
        api: { calls: client.calls, failures: troubles.failures, trouble: troubles.current },
        taints: keepers.taints.status(all, node.now, csiNode),
        conditions: keepers.condition?.status(all, node.now, csiNode) ?? [],
        csiNode: keepers.CSINode.status(all, node.now, csiNode),
      };
    },
    closed,
    close,
    [Symbol.asyncDispose]: async () => void (await close()),
  };
}

/** Makes the waits after failures, each of one part: a right that one lacks holds up no other. */
function createRests() {
  const rests = new Map<
    string,
    { readonly failure: ApiFailure; readonly attempt: number; untilMs: number }
  >();
  return {
    /** Returns for how many milliseconds this part waits, 0 or less: it does not. */
    of: (part: string): number => (rests.get(part)?.untilMs ?? 0) - performance.now(),
    begin: (part: string, failure: ApiFailure): number => {
      const attempt = (rests.get(part)?.attempt ?? -1) + 1;
      const waitMs = retryMs(failure, attempt);
      rests.set(part, { failure, attempt, untilMs: performance.now() + waitMs });
      return waitMs;
    },
    forget: (part: string): void => void rests.delete(part),
    /** Ends the waits after these failures, by default all: the API server has shown that it answers. */
    end: (isOver: (failure: ApiFailure) => boolean = () => true): void => {
      for (const rest of rests.values()) if (isOver(rest.failure)) rest.untilMs = 0;
    },
  };
}

/** Makes a warning of the drivers whose names would make a taint or condition one of others, when they change. */
function createNameWarning(templates: readonly string[], log: Logger) {
  let warnedOf = "";
  return (all: readonly ObservedRegistration[]): void => {
    const names = new Set(all.flatMap(({ driverName }) => driverName ?? []));
    const isRefused = (name: string) => templates.some((one) => fillIn(one, name) === undefined);
    const csiDriverName = [...names].filter(isRefused).join(", ");
    if (csiDriverName !== "" && csiDriverName !== warnedOf)
      log.warn("Driver name is in a domain of other programs, not changing its taints and conditions", {
        ...{ csiDriverName, names: templates.join(", ") },
        check: "is this the CSI driver that you deployed? --deny-drivers keeps it out",
      });
    warnedOf = csiDriverName;
  };
}

/** Collects the current failures. Each kind is logged once, and their end when none is left. */
function createTroubles(log: Logger, adviceOn: (failure: ApiFailure) => string) {
  /** By part, with its beginning by a monotonic clock. */
  const lasting = new Map<string, ApiTrouble & { readonly from: number }>();
  const failures: Record<string, number> = {};

  return {
    note: (part: string, answer: NodeAnswer<unknown>): void => {
      const before = lasting.get(part);
      if (answer.kind === "done") {
        lasting.delete(part);
        if (before === undefined || lasting.size > 0) return;
        const after = `${Math.round((performance.now() - before.from) / 1000)}s`;
        log.info("API server requests for node readiness succeed again", { doing: before.doing, after });
        return;
      }
      const { doing, failure } = answer;
      const { kind, message } = failure;
      failures[kind] = (failures[kind] ?? 0) + 1;
      const isLogged = [...lasting.values()].some((trouble) => trouble.kind === kind);
      const now = { failedAtMs: Date.now(), from: performance.now() };
      const { failedAtMs, from } = before?.kind === kind ? before : now;
      lasting.set(part, { kind, doing, message, failedAtMs, from });
      if (isLogged) return;
      log.warn("API server request for node readiness failed, will retry; registration is not affected", {
        ...{ doing, err: message, check: adviceOn(failure) },
      });
    },
    get current(): ApiTrouble | undefined {
      return [...lasting.values()].sort((one, other) => one.from - other.from)[0];
    },
    failures,
  };
}

function adviceOn({ kind, message }: ApiFailure, options: RunOptions): string {
  if (kind === "forbidden" && /admission|polic/i.test(message))
    return `does the policy allow this taint, and is the pod's token bound to node ${options.nodeName}?`;
  const advice: Partial<Record<ApiFailure["kind"], string>> = {
    unreachable: "does the API server run, can this pod reach it, and does its certificate fit the CA here?",
    "no-credentials": "is the service account's token mounted (automountServiceAccountToken: true)?",
    unauthorized: "is the token of this cluster, not expired, and does its service account still exist?",
    forbidden: `bind the service account to a ClusterRole with these rules: [${neededRules(options).join(", ")}]`,
    "not-found": `is there a Node ${JSON.stringify(options.nodeName)}? Its name must be the pod's spec.nodeName`,
    conflict: "who else writes to this Node all the time, or what admission rule refuses the patch?",
  };
  return advice[kind] ?? "is the API server healthy? kubectl get --raw '/readyz?verbose'";
}
