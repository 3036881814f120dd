import { setMaxListeners } from "node:events";
import { backoffMs } from "../../backoff";
import { loadProtos } from "../../grpc/protos";
import { silentLogger } from "../../logging/logger";
import { tryConnect } from "../../sockets/unix-socket";
import { createEvents, type RegistrarEvent } from "../events";
import type { Fleet } from "../fleet";
import { checkWait, type RegistrarOptions, type ResolvedRegistrarOptions, resolveOptions } from "../options";
import type { RegistrationOutcome } from "../registration/registration-core";
import { refuseAborted, type StartContext } from "../start-context";
import { type Registrar, startDriverRegistrar } from "../start-registrar";
import { createAdmission, type NameLists } from "./admission";
import { discover, statsOf } from "./discovery";
import { fillPattern, type PatternPair, pairPatterns } from "./path-pattern";

/** What a node-wide registrar is told. */
export interface NodeFleetOptions
  extends Omit<
    RegistrarOptions,
    "csiAddress" | "kubeletRegistrationPath" | "onRegistrationFailure" | "driverTimeoutMs"
  > {
  /** Patterns of driver sockets as this process sees them: `/plugins/STAR/csi.sock` with `*` for STAR. */
  readonly csiAddresses: readonly string[];
  /** The same as kubelet sees them, first with first; each `*` stands for the same as its counterpart. */
  readonly kubeletRegistrationPaths: readonly string[];
  /** A driver whose socket is away or refuses for this long has gone. Milliseconds. @default 30000 */
  readonly driverGoneAfterMs?: number;
  /** Which driver names are wanted. @default all */
  readonly names?: NameLists;
}

/** Until a registrar that failed (an unsafe name, a file in the way of its socket) is started anew. */
const RESTART_BACKOFF = { initialMs: 30_000, maxMs: 300_000 };

/** On a node, sockets that nobody listens on are nothing special. */
const REMIND_EVERY_MS = 600_000;

/** One driver's place in the fleet, as long as its folder is there. */
interface Member {
  readonly registrar: Registrar;
  phase: "serving" | "failed" | "leaving";
  /** How often its driver's registrars have failed, one after the other, before it. */
  readonly failures: number;
  /** While it serves: the driver is away. Where it failed: until it is started anew. */
  timer: NodeJS.Timeout | undefined;
}

/**
 * Registers every driver whose socket fits a pattern. Each has a registrar of its own: state, retries, socket; what
 * befalls one does not touch the others. A refusal is retried, never an end. A driver that has a living registrar
 * already, a sidecar of its own, is left to it as long as that lives. A driver whose folder goes is
 * deregistered at once; one whose socket goes or refuses, after `driverGoneAfterMs`, as a restart is no departure.
 * One that comes back under another name is another driver.
 *
 * Rejects with INVALID_OPTION, and with ABORTED where it was stopped before. Ends only when it is closed or `signal` is aborted.
 */
export async function startNodeFleet(
  options: NodeFleetOptions,
  { signal, logger = silentLogger }: StartContext = {},
): Promise<Fleet> {
  const pairs = pairPatterns(options.csiAddresses, options.kubeletRegistrationPaths);
  const { driverGoneAfterMs = 30_000 } = options;
  checkWait("driver-gone-after", driverGoneAfterMs);
  const resolve = (csiAddress: string, kubeletRegistrationPath: string) =>
    resolveOptions({
      ...options,
      csiAddress,
      kubeletRegistrationPath,
      onRegistrationFailure: "retry",
      driverTimeoutMs: 0,
    });
  // What all drivers share must be right before the first one comes.
  for (const { csiAddress, kubeletRegistrationPath } of pairs)
    resolve(csiAddress.text, kubeletRegistrationPath.text);
  refuseAborted(signal);
  const log = logger.named("node-fleet");
  const protos = loadProtos();
  const admission = createAdmission(options.names);
  const events = createEvents<{ readonly event: RegistrarEvent; readonly registrar: Registrar }>();
  const members = new Map<string, Member>();
  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // Each pattern listens: Node would warn of a leak at the eleventh.

  /** A driver is there, or has come anew. What is known already goes on, but one that failed is tried again at once. */
  const join = (csiAddress: string, kubeletRegistrationPath: string, failures = 0) => {
    const former = members.get(csiAddress);
    if (stop.signal.aborted || (former && former.phase !== "failed")) return;
    clearTimeout(former?.timer);
    let resolved: ResolvedRegistrarOptions;
    try {
      resolved = resolve(csiAddress, kubeletRegistrationPath);
    } catch (error) {
      log.error(error, "Cannot register the CSI driver", { csiAddress });
      return;
    }
    const registrar = startDriverRegistrar(resolved, {
      protos,
      admission,
      log: logger.with({ csiAddress }),
      remindEveryMs: REMIND_EVERY_MS,
      placeTaken: "stand-by",
    });
    const member: Member = { registrar, phase: "serving", failures, timer: undefined };
    members.set(csiAddress, member);
    registrar.subscribe((event) => {
      events.emit({ event, registrar });
      if (event.kind === "driver-lost") expectDeparture(member);
    });
    void registrar.closed.then((outcome) => onClosed(member, outcome));
  };

  /** It failed, has left, or has to start over; whatever comes next, a driver that is there is joined. */
  const onClosed = (member: Member, outcome: RegistrationOutcome) => {
    const { csiAddress, kubeletRegistrationPath } = member.registrar.options;
    const startOver = (failures = 0) => {
      members.delete(csiAddress);
      if (statsOf(csiAddress)?.isSocket()) join(csiAddress, kubeletRegistrationPath, failures);
    };
    clearTimeout(member.timer);
    if (stop.signal.aborted) return;
    if (outcome.kind !== "failed" || member.phase === "leaving") return startOver();
    member.phase = "failed";
    const waitMs = backoffMs(RESTART_BACKOFF, member.failures);
    const after = `${waitMs / 1000}s`;
    log.info("Trying again later, or when the CSI driver restarts", { csiAddress, after });
    member.timer = setTimeout(() => startOver(member.failures + 1), waitMs);
  };

  const leave = (member: Member, reason: string) => {
    const { csiAddress } = member.registrar.options;
    if (stop.signal.aborted || member.phase === "leaving") return;
    clearTimeout(member.timer);
    log.info("CSI driver has gone", { csiAddress, reason });
    if (member.phase === "failed") members.delete(csiAddress);
    member.phase = "leaving";
    void member.registrar.close();
  };

  /** After a while, looks whether the driver is back. If not it is deregistered, and its socket waited for. */
  const expectDeparture = (member: Member) => {
    clearTimeout(member.timer);
    if (member.phase !== "serving" || stop.signal.aborted) return;
    member.timer = setTimeout(async () => {
      if ((await tryConnect(member.registrar.options.csiSocketPath)) === undefined) return;
      if (member.phase === "serving") leave(member, `not there for ${driverGoneAfterMs / 1000}s`);
    }, driverGoneAfterMs);
  };

  const watchPair = ({ csiAddress, kubeletRegistrationPath }: PatternPair) =>
    discover(
      csiAddress,
      { log, signal: stop.signal },
      {
        onFound: (captures) =>
          join(fillPattern(csiAddress, captures), fillPattern(kubeletRegistrationPath, captures)),
        onGone: (captures, what) => {
          const member = members.get(fillPattern(csiAddress, captures));
          if (member === undefined) return;
          if (what === "folder") return leave(member, "its folder is gone");
          const isKnown = member.phase === "serving" && member.registrar.status().identity !== undefined;
          if (isKnown) expectDeparture(member);
          else leave(member, "its socket is gone");
        },
      },
    );

  log.info("Looking for CSI drivers", { patterns: pairs.map(({ csiAddress }) => csiAddress.text).join(" ") });
  const watching = Promise.all(pairs.map(watchPair));
  let resolveClosed: (outcome: RegistrationOutcome) => void;
  const closed = new Promise<RegistrationOutcome>((resolve) => {
    resolveClosed = resolve;
  });
  const shutDown = async () => {
    signal?.removeEventListener("abort", close);
    stop.abort();
    const leaving = [...members.values()];
    for (const { timer } of leaving) clearTimeout(timer);
    await Promise.all([...leaving.map(({ registrar }) => registrar.close()), watching]);
    members.clear();
    resolveClosed({ kind: "stopped" });
  };
  const close = () => {
    if (!stop.signal.aborted) void shutDown();
    return closed;
  };
  signal?.addEventListener("abort", close, { once: true });

  return {
    kind: "node-wide",
    get registrars() {
      return [...members.values()].map(({ registrar }) => registrar);
    },
    subscribe: (listener) => events.subscribe(({ event, registrar }) => listener(event, registrar)),
    closed,
    close,
    [Symbol.asyncDispose]: async () => void (await close()),
  };
}
