import { BACKOFF, backoffMs } from "../base/backoff";
import { createWakeUp } from "../base/pause";
import type { Logger } from "../logging/logger";
import { createApiClient } from "./api/client";
import { createNodeApi } from "./api/node-api";
import { type ConditionStatus, createConditionKeeper } from "./condition-keeper";
import { type CsiNodePace, type CsiNodeStatus, createCsiNodeKeeper } from "./csi-node-keeper";
import { createNameWarnings } from "./name-warnings";
import { createNodeStore, startNodeWatch, WATCH_PACE, type WatchPace } from "./node-watch";
import type { ObservedRegistrations } from "./observed-registrations";
import type { ResolvedNodeReadinessOptions } from "./options";
import { earlier, type Pass, type PassOutcome } from "./pass";
import { neededRules, rulesText } from "./rbac";
import { createTaintKeeper, type TaintPace, type TaintStatus } from "./taint-keeper";
import { createTroubles, type Trouble } from "./trouble";

/** Where a node's readiness stands, at the moment of asking. */
export interface NodeReadinessStatus {
  readonly nodeName: string;
  readonly api: {
    /** Requests since the start, watches among them. */
    readonly calls: number;
    readonly failures: Readonly<Record<string, number>>;
    /** Undefined while the API server does what it is asked for. */
    readonly trouble: Trouble | undefined;
  };
  readonly taints: readonly TaintStatus[];
  readonly conditions: readonly ConditionStatus[];
  /** Of those drivers that have been registered. */
  readonly csiNode: readonly CsiNodeStatus[];
}

/** A running readiness of one node. */
export interface NodeReadiness extends AsyncDisposable {
  status(): NodeReadinessStatus;
  /** Ends it and leaves the Node as it is. Always the same promise; never rejects. */
  close(): Promise<void>;
}

/** The waits of node readiness; tests have shorter ones. */
export interface NodeReadinessPace {
  readonly watch?: WatchPace;
  readonly taint?: TaintPace;
  readonly csiNode?: CsiNodePace;
}

/** Starts it with options that were checked. */
export function runNodeReadiness(
  registrations: ObservedRegistrations,
  resolved: ResolvedNodeReadinessOptions,
  { log, pace = {} }: { readonly log: Logger; readonly pace?: NodeReadinessPace | undefined },
): NodeReadiness {
  const { nodeName, startupTaints, condition, conditionDelayMs: delayMs } = resolved;
  const stop = new AbortController();
  const { signal } = stop;
  const changed = createWakeUp();
  /** Called when the API server has shown that it answers. */
  const answering = createWakeUp();
  const client = createApiClient(resolved.access);
  const api = createNodeApi(client, nodeName);
  const store = createNodeStore(changed.call);
  const rules = neededRules({ taints: startupTaints.length > 0, condition: condition !== undefined });
  const troubles = createTroubles({ log, nodeName, rules: rulesText(rules) });
  const taintKeeper = createTaintKeeper(startupTaints, { log, pace: pace.taint });
  const conditionKeeper =
    condition === undefined ? undefined : createConditionKeeper({ type: condition, delayMs }, { log });
  const csiNodeKeeper = createCsiNodeKeeper({ log, pace: pace.csiNode });
  const templates = [...startupTaints.map(({ key }) => key), ...(condition === undefined ? [] : [condition])];
  const warnOfNames = createNameWarnings(templates, log);

  const watch = startNodeWatch({
    api,
    store,
    signal,
    pace: pace.watch ?? WATCH_PACE,
    onHealth: (failure) => {
      if (failure === undefined) answering.call();
      troubles.note("watch", "watching the Node", failure);
    },
  });

  let latest = 0;
  const unsubscribe = registrations.subscribe(() => {
    const at = Math.max(0, ...registrations.all().map(({ registeredAt = 0 }) => registeredAt));
    if (at > latest) {
      // Kubelet has just written CSINode: the API server is there.
      answering.call();
      watch.hurry();
    }
    latest = at;
    changed.call();
  });

  const look = async (): Promise<Readonly<Record<string, PassOutcome>>> => {
    let listed: ReturnType<Pass["listedDrivers"]> | undefined;
    const pass: Pass = {
      api,
      store,
      signal,
      now: Date.now(),
      listedDrivers: () => {
        listed ??= api.getListedDrivers(signal);
        return listed;
      },
    };
    const all = registrations.all();
    warnOfNames(all);
    const taints = await taintKeeper.pass(all, pass);
    const condition = await conditionKeeper?.pass(all, pass);
    const csiNode = await csiNodeKeeper.pass(all, pass);
    return { taints, ...(condition && { condition }), CSINode: csiNode };
  };

  const run = async () => {
    let attempt = 0;
    while (!signal.aborted) {
      let againInMs: number | undefined;
      let hasFailed = false;
      for (const [part, outcome] of Object.entries(await look())) {
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
  const running = run();

  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= (async () => {
      unsubscribe();
      stop.abort();
      await Promise.all([running, watch.ended]);
      client.close();
    })();
    return closing;
  };
  return {
    status: () => {
      const all = registrations.all();
      return {
        nodeName,
        api: { calls: client.calls, failures: troubles.failures, trouble: troubles.current },
        taints: taintKeeper.status(all, { store }),
        conditions: conditionKeeper?.status(all, { store }) ?? [],
        csiNode: csiNodeKeeper.status(all),
      };
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
