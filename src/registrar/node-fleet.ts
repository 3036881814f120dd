import { existsSync } from "node:fs";
import { loadProtos } from "../grpc/protos";
import { silentLogger } from "../logging/logger";
import { createAdmission, type NameLists } from "./admission";
import { discover } from "./discovery";
import { createEvents, type RegistrarEvent } from "./events";
import type { Fleet } from "./fleet";
import { type RegistrarOptions, resolveOptions } from "./options";
import { fillPattern, type PatternPair, pairPatterns } from "./path-pattern";
import { type Registrar, startDriverRegistrar } from "./registrar";
import type { RegistrationOutcome } from "./registration-core";
import { refuseAborted, type StartContext } from "./start-context";
import { tryConnect } from "./unix-socket";

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

/** A registrar that failed (an unsafe name, a file in the way of its socket) is started anew after this long. */
const RESTART_AFTER_MS = 30_000;

/** On a node, sockets that nobody listens on are nothing special. */
const REMIND_EVERY_MS = 600_000;

/** One driver's place in the fleet, as long as its folder is there. */
interface Member {
  readonly registrar: Registrar;
  /** Set while the driver may have gone. */
  departure: NodeJS.Timeout | undefined;
}

/**
 * Registers every driver whose socket fits a pattern. Each has a registrar of its own: state, retries, socket; what
 * befalls one does not touch the others. A refusal is retried, never an end. A driver that has a living registrar
 * already, a sidecar of its own, is left to it as long as that lives. A driver whose folder goes is
 * deregistered at once; one whose socket goes or refuses, after `driverGoneAfterMs`, as a restart is no departure.
 *
 * Rejects with INVALID_OPTION, and with ABORTED where it was stopped before. Ends only when it is closed or `signal` is aborted.
 */
export async function startNodeFleet(
  options: NodeFleetOptions,
  { signal, logger = silentLogger }: StartContext = {},
): Promise<Fleet> {
  const pairs = pairPatterns(options.csiAddresses, options.kubeletRegistrationPaths);
  const { driverGoneAfterMs = 30_000 } = options;
  refuseAborted(signal);
  const log = logger.named("node-fleet");
  const protos = loadProtos();
  const admission = createAdmission(options.names);
  const events = createEvents<{ readonly event: RegistrarEvent; readonly registrar: Registrar }>();
  const members = new Map<string, Member>();
  const stop = new AbortController();

  const join = (csiAddress: string, kubeletRegistrationPath: string) => {
    if (members.has(csiAddress) || stop.signal.aborted) return;
    const resolved = resolveOptions({
      ...options,
      csiAddress,
      kubeletRegistrationPath,
      onRegistrationFailure: "retry",
      driverTimeoutMs: 0,
    });
    const registrar = startDriverRegistrar(resolved, {
      protos,
      admission,
      log: logger.with({ csiAddress }),
      remindEveryMs: REMIND_EVERY_MS,
      placeTaken: "stand-by",
    });
    const member: Member = { registrar, departure: undefined };
    members.set(csiAddress, member);
    registrar.subscribe((event) => {
      events.emit({ event, registrar });
      if (event.kind === "driver-lost") expectDeparture(csiAddress, member);
    });
    void registrar.closed.then(async (outcome) => {
      clearTimeout(member.departure);
      if (outcome.kind !== "failed" || members.get(csiAddress) !== member) return;
      member.departure = setTimeout(() => rejoin(csiAddress, member), RESTART_AFTER_MS);
    });
  };

  const rejoin = (csiAddress: string, member: Member) => {
    if (members.get(csiAddress) !== member) return;
    members.delete(csiAddress);
    join(csiAddress, member.registrar.options.kubeletRegistrationPath);
  };

  const leave = async (csiAddress: string, reason: string) => {
    const member = members.get(csiAddress);
    if (!member) return;
    members.delete(csiAddress);
    clearTimeout(member.departure);
    log.info("CSI driver has gone", { csiAddress, reason });
    await member.registrar.close();
  };

  /** After a while, looks whether the driver is back. If not it is deregistered, and its socket waited for. */
  const expectDeparture = (csiAddress: string, member: Member) => {
    clearTimeout(member.departure);
    if (members.get(csiAddress) !== member) return;
    member.departure = setTimeout(async () => {
      if ((await tryConnect(csiAddress)) === undefined || members.get(csiAddress) !== member) return;
      await leave(csiAddress, `not there for ${driverGoneAfterMs / 1000}s`);
      if (existsSync(csiAddress)) join(csiAddress, member.registrar.options.kubeletRegistrationPath);
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
          const path = fillPattern(csiAddress, captures);
          const member = members.get(path);
          if (what === "folder") void leave(path, "its folder is gone");
          else if (member?.registrar.status().identity) expectDeparture(path, member);
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
    members.clear();
    for (const { departure } of leaving) clearTimeout(departure);
    await Promise.all([...leaving.map(({ registrar }) => registrar.close()), watching]);
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
