import { BACKOFF, backoffMs } from "../base/backoff";
import { invalidOption, messageOf } from "../base/errors";
import { createWakeUp } from "../base/pause";
import { show } from "../base/refuse-option";
import { createApiClient } from "../kube-api/client";
import type { Outcome } from "../kube-api/failure";
import type { Logger, LoggerOption } from "../logging/logger";
import { readOptions } from "../options/read-options";
import { type ResolvedStartOptions, START_OPTIONS } from "../options/start-options";
import { type ConditionStatus, createConditionKeeper } from "./condition-keeper";
import { type CsiNodeStatus, createCsiNodeKeeper } from "./csi-node-keeper";
import { fillIn } from "./driver-template";
import { createNodeApi, type NodeApi, nodeUser } from "./node-api";
import { createNodeStore, startNodeWatch } from "./node-watch";
import type { ObservedRegistration, ObservedRegistrations } from "./observed-registrations";
import { type NodeReadinessOptions, resolveNodeReadinessOptions } from "./options";
import { PACE, type Pace } from "./pace";
import { earlier, failed, type Pass } from "./pass";
import { IMPERSONATION_MINOR, neededRules, rulesText } from "./rbac";
import { createTaintKeeper, type TaintStatus } from "./taint-keeper";
import { createTroubles, type Trouble } from "./trouble";

/** The current state of a node's readiness. */
export interface NodeReadinessStatus {
  readonly nodeName: string;
  readonly api: {
    /** Requests since the start, watches included. */
    readonly calls: number;
    readonly failures: Readonly<Record<string, number>>;
    /** Undefined while every request succeeds. */
    readonly trouble: Trouble | undefined;
  };
  readonly taints: readonly TaintStatus[];
  readonly conditions: readonly ConditionStatus[];
  /** The drivers that have been registered. */
  readonly csiNode: readonly CsiNodeStatus[];
}

/** The running node readiness of one node. */
export interface NodeReadiness extends AsyncDisposable {
  status(): NodeReadinessStatus;
  /** Stops, and leaves the Node as it is. Returns the same promise each time; it never rejects. */
  close(): Promise<void>;
}

/**
 * Removes startup taints from the node when kubelet has registered their drivers, and keeps a condition in the Node's
 * status, until `close()`. It makes kubelet register a driver again that CSINode lacks; no failure of the API server affects
 * the registrations otherwise. Throws INVALID_OPTION.
 */
export function startNodeReadiness(
  registrations: ObservedRegistrations,
  options: NodeReadinessOptions,
  others: { readonly logger?: LoggerOption | undefined } = {},
): NodeReadiness {
  const { all, subscribe } = Object(registrations) as Partial<ObservedRegistrations>;
  if (typeof all !== "function" || typeof subscribe !== "function")
    throw invalidOption(
      `startNodeReadiness takes what observeRegistrations() gives, not ${show(registrations)}; ` +
        "observeRegistrations(only(registration)) is that of one registration",
    );
  const resolved = resolveNodeReadinessOptions(options, registrations.scope === "node-wide");
  const { logger } = START_OPTIONS;
  const read = readOptions<Pick<ResolvedStartOptions, "logger">>("startNodeReadiness", others, { logger });
  return runNodeReadiness(registrations, resolved, { log: read.logger });
}

/** Starts with options that were checked; tests give a shorter `pace`. */
export function runNodeReadiness(
  registrations: ObservedRegistrations,
  options: ReturnType<typeof resolveNodeReadinessOptions>,
  { log: parentLog, pace }: { readonly log: Logger; readonly pace?: Partial<Pace> | undefined },
): NodeReadiness {
  const { nodeName, access, impersonateNode, startupTaints, condition, conditionDelayMs } = options;
  const log = parentLog.named("node-readiness");
  const paces = { ...PACE, ...pace };
  const stop = new AbortController();
  const { signal } = stop;
  const changed = createWakeUp();
  /** Called when the API server has shown that it answers. */
  const answering = createWakeUp();
  const client = createApiClient(access, impersonateNode ? nodeUser(nodeName) : undefined);
  const api = createNodeApi(client, nodeName);
  const store = createNodeStore(changed.call);
  const rules = neededRules({
    taints: startupTaints.length > 0,
    condition: condition !== undefined,
    impersonation: impersonateNode,
  });
  const since = impersonateNode ? `, and the API server needs Kubernetes 1.${IMPERSONATION_MINOR}` : "";
  const troubles = createTroubles(parentLog, nodeName, `${rulesText(rules)}${since}`);
  const keepers = {
    taints: createTaintKeeper(startupTaints, parentLog, paces.taint),
    ...(condition !== undefined && {
      condition: createConditionKeeper(condition, conditionDelayMs, { log: parentLog }),
    }),
    CSINode: createCsiNodeKeeper(parentLog, paces.csiNode),
  };
  const templates = startupTaints.map(({ key }) => key).concat(condition ?? []);
  let warned: readonly string[] = [];
  /** Warns once of each driver whose name would make a taint or condition one of others. */
  const warnOfNames = (all: readonly ObservedRegistration[]) => {
    const names = [...new Set(all.flatMap(({ driverName }) => driverName ?? []))];
    const refused = names.filter((name) => templates.some((one) => fillIn(one, name) === undefined));
    for (const csiDriverName of refused.filter((name) => !warned.includes(name)))
      log.warn("Driver name is in a domain of other programs, not changing its taints and conditions", {
        csiDriverName,
        names: templates.join(", "),
        check: "is this the CSI driver that you deployed? --deny-drivers keeps it out",
      });
    warned = refused;
  };

  const watch = startNodeWatch({
    api,
    store,
    signal,
    pace: paces.watch,
    onHealth: (failure) => {
      if (failure === undefined) answering.call();
      troubles.note("watch", "watching the Node", failure);
    },
  });

  let registeredAts: readonly (number | undefined)[] = [];
  const unsubscribe = registrations.subscribe(() => {
    const before = registeredAts;
    registeredAts = registrations.all().map(({ registeredAt }) => registeredAt);
    if (registeredAts.some((at) => at !== undefined && !before.includes(at))) {
      // Kubelet has just written CSINode: the API server is there.
      answering.call();
      watch.hurry();
    }
    changed.call();
  });

  const run = async () => {
    let attempt = 0;
    while (!signal.aborted) {
      let listed: ReturnType<Pass["listedDrivers"]> | undefined;
      const listedDrivers = () => (listed ??= namesListed(api, signal));
      const pass: Pass = { api, store, signal, now: performance.now(), listedDrivers };
      const all = registrations.all();
      warnOfNames(all);
      let againInMs: number | undefined;
      let hasFailed = false;
      for (const [part, keeper] of Object.entries(keepers)) {
        // A Node whose fields are not what they should be must not end the process.
        const outcome = await keeper
          .pass(all, pass)
          .catch((error) => failed(part, { failure: { kind: "unexpected", message: messageOf(error) } }));
        if (signal.aborted) return;
        if (outcome.kind === "settled") {
          againInMs = earlier(againInMs, outcome.againInMs);
          troubles.note(part, part, undefined);
        } else {
          hasFailed = true;
          troubles.note(part, outcome.doing, outcome.failure);
        }
      }
      if (hasFailed) await answering.wait(signal, backoffMs(BACKOFF.apiServer, attempt));
      else await changed.wait(signal, againInMs);
      attempt = hasFailed ? attempt + 1 : 0;
    }
  };

  const ended = Promise.all([run(), watch.ended]).then(() => client.close());
  const close = () => {
    unsubscribe();
    stop.abort();
    return ended;
  };
  return {
    status: () => {
      const all = registrations.all();
      return {
        nodeName,
        api: { calls: client.calls, failures: troubles.failures, trouble: troubles.current },
        taints: keepers.taints.status(all, store),
        conditions: keepers.condition?.status(all, store) ?? [],
        csiNode: keepers.CSINode.status(all, store),
      };
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function namesListed(api: NodeApi, signal: AbortSignal): Promise<Outcome<readonly string[]>> {
  const listed = await api.getListedDrivers(signal);
  return listed.kind === "failed" ? listed : { ...listed, value: listed.value.map(({ name }) => name) };
}
