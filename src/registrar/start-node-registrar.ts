import { setMaxListeners } from "node:events";
import { BACKOFF, backoffMs } from "../base/backoff";
import type { Events } from "../base/event-source";
import { fillPattern, type PatternPair, pairPatterns } from "../host-path/path-pattern";
import { checkFor } from "../options/read-options";
import { refuseAborted } from "../options/start-options";
import { mayAccept, tryConnect } from "../unix/unix-socket";
import { createRegistrarEvents } from "./model/events";
import { type ResolvedRegistrarOptions, resolveOptions } from "./model/options";
import type { RegistrationOutcome } from "./model/outcome";
import { createAdmission } from "./node-wide/admission";
import { discover } from "./node-wide/discovery";
import { whyUnwanted } from "./node-wide/name-lists";
import { type NodeRegistrarOptions, type ResolvedNodeOptions, resolveNodeOptions } from "./node-wide/options";
import type { Registration } from "./registration/registration";
import type { Registrations, RegistrationsEvent } from "./registrations";
import { registerDriver } from "./start-registrar";

/** The registrations of every driver of a node, and what happens to each. */
export interface NodeRegistrar
  extends Omit<Registrations, "subscribe">,
    Events<RegistrationsEvent>,
    AsyncDisposable {
  /** What it was started with, every default filled in. */
  readonly options: ResolvedNodeOptions;
  /** Resolves, never rejects, when all is over and nothing is left behind. */
  readonly closed: Promise<RegistrationOutcome>;
  /** Deregisters every driver. Always the same promise. */
  close(): Promise<RegistrationOutcome>;
}

/** A log line about a dead socket every 10 minutes: on a node they are nothing special. */
const REMIND_EVERY_MS = 600_000;
/** The shortest wait until the next look at a driver that is silent, whatever `driverGoneAfterMs` is. */
const SHORTEST_LOOK_MS = 1_000;
/** A failure after this long is a first failure again. */
const STEADY_AFTER_MS = BACKOFF.failedDriver.maxMs;

/** One driver's place, as long as its folder is there. */
interface Member {
  readonly csiAddress: string;
  readonly registration: Registration;
  readonly sinceMs: number;
  phase: "serving" | "failed" | "leaving";
  /** The driver's failed registrations in a row before this one. */
  readonly failures: number;
  /** In phase `serving`: the driver is away. In phase `failed`: until the next registration. */
  timer: NodeJS.Timeout | undefined;
}

/**
 * Registers every driver whose socket fits a pattern. Each has a registration of its own, with its own state, retries
 * and socket: the failure of one does not touch the others. A refusal is retried, never an end. A driver with a living
 * registrar, a sidecar of its own, stays with that one as long as it lives. A driver whose folder goes is deregistered
 * at once; one whose socket goes or refuses connections, after `driverGoneAfterMs`, because it may restart. A driver that
 * comes back under another name is another driver.
 *
 * Rejects with INVALID_OPTION, and with ABORTED where it was stopped before. Ends only by `close()` or `signal`.
 */
export async function startNodeRegistrar(options: NodeRegistrarOptions): Promise<NodeRegistrar> {
  const { signal, logger, ...resolved } = resolveNodeOptions(options);
  const { csiAddresses, kubeletRegistrationPaths, driverGoneAfterMs, names, onEvent, ...common } = resolved;
  const whose = "startNodeRegistrar";
  const pairs = checkFor(whose, () => pairPatterns(csiAddresses, kubeletRegistrationPaths));
  const resolve = (csiAddress: string, kubeletRegistrationPath: string) =>
    resolveOptions({ ...common, csiAddress, kubeletRegistrationPath, onRegistrationFailure: "retry" }, whose);
  // What all drivers share must be right before the first one comes.
  for (const { csiAddress, kubeletRegistrationPath } of pairs)
    resolve(csiAddress.text, kubeletRegistrationPath.text);
  refuseAborted("the node-wide registrar", signal);
  const log = logger.named("start-node-registrar");
  const admission = createAdmission(names);
  const events = createRegistrarEvents<RegistrationsEvent>(log);
  events.subscribe(onEvent);
  const members = new Map<string, Member>();
  /** The CSI driver sockets that are there. */
  const sockets = new Set<string>();
  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // Each pattern listens: Node would warn of a leak at the eleventh.

  /** Registers a driver that is there or came back; one that has its place keeps it. */
  const join = (csiAddress: string, kubeletRegistrationPath: string, failures = 0) => {
    if (stop.signal.aborted || members.has(csiAddress)) return;
    let ofDriver: ResolvedRegistrarOptions;
    try {
      ofDriver = resolve(csiAddress, kubeletRegistrationPath);
    } catch (error) {
      log.error(error, "Cannot register the CSI driver", { csiAddress });
      return;
    }
    const owner = { csiAddress };
    const registration = registerDriver(ofDriver, {
      admit: (name, log) => admission.request(name, owner, log),
      isWanted: (name) => whyUnwanted(name, csiAddress, names) === undefined,
      log: logger.with({ csiAddress }),
      remindEveryMs: REMIND_EVERY_MS,
      placeTaken: "stand-by",
    });
    const sinceMs = performance.now();
    const phase = "serving";
    const member: Member = { csiAddress, registration, sinceMs, phase, failures, timer: undefined };
    members.set(csiAddress, member);
    registration.subscribe((event) => {
      events.emit({ ...event, registration });
      if (event.kind === "driver-lost") expectDeparture(member);
    });
    const message = "Cannot start over with a CSI driver";
    registration.closed
      .then((outcome) => {
        admission.release(owner);
        onClosed(member, outcome);
      })
      .catch((error) => log.error(error, message, { csiAddress }));
  };

  /** After a registration has ended: a driver that is there starts over, at once or later if it failed. */
  const onClosed = (member: Member, outcome: RegistrationOutcome) => {
    const { csiAddress } = member;
    const { kubeletRegistrationPath } = member.registration;
    const startOver = (failures = 0) => {
      members.delete(csiAddress);
      if (sockets.has(csiAddress)) join(csiAddress, kubeletRegistrationPath, failures);
    };
    clearTimeout(member.timer);
    if (stop.signal.aborted) return;
    if (outcome.kind !== "failed" || member.phase === "leaving") return startOver();
    member.phase = "failed";
    const failures = performance.now() - member.sinceMs < STEADY_AFTER_MS ? member.failures : 0;
    const waitMs = backoffMs(BACKOFF.failedDriver, failures);
    const after = `${waitMs / 1000}s`;
    log.info("Trying again later, or when the CSI driver restarts", { csiAddress, after });
    member.timer = setTimeout(() => startOver(failures + 1), waitMs);
  };

  const leave = (member: Member, reason: string) => {
    const { csiAddress } = member;
    if (stop.signal.aborted || member.phase === "leaving") return;
    clearTimeout(member.timer);
    log.info("CSI driver has gone", { csiAddress, reason });
    if (member.phase === "failed") members.delete(csiAddress);
    member.phase = "leaving";
    member.registration.close().catch(() => {}); // It never rejects.
  };

  /** After a while, looks whether the driver is back. If not, deregisters it and waits for its socket. */
  const expectDeparture = (member: Member, afterMs = driverGoneAfterMs) => {
    clearTimeout(member.timer);
    if (member.phase !== "serving" || stop.signal.aborted) return;
    member.timer = setTimeout(async () => {
      const isBack = mayAccept(await tryConnect(member.csiAddress));
      if (!isBack && member.phase === "serving") leave(member, `not there for ${driverGoneAfterMs / 1000}s`);
      // A driver that accepts connections without an answer may go without a further event: look again.
      if (isBack && !member.registration.status().connected)
        expectDeparture(member, Math.max(driverGoneAfterMs, SHORTEST_LOOK_MS));
    }, afterMs);
  };

  const watchPair = ({ csiAddress, kubeletRegistrationPath }: PatternPair) =>
    discover(
      csiAddress,
      { log, signal: stop.signal },
      {
        onFound: (captures) => {
          const path = fillPattern(csiAddress, captures);
          sockets.add(path);
          join(path, fillPattern(kubeletRegistrationPath, captures));
        },
        onGone: (captures, what) => {
          const path = fillPattern(csiAddress, captures);
          sockets.delete(path);
          const member = members.get(path);
          if (member === undefined) return;
          const isKnown = member.phase === "serving" && member.registration.status().identity !== undefined;
          if (what === "socket" && isKnown) expectDeparture(member);
          else leave(member, `its ${what} is gone`);
        },
      },
    );

  log.info("Looking for CSI drivers", { patterns: pairs.map(({ csiAddress }) => csiAddress.text).join(" ") });
  const closed = Promise.all(pairs.map(watchPair)).then(async (): Promise<RegistrationOutcome> => {
    signal?.removeEventListener("abort", close);
    const leaving = [...members.values()];
    for (const { timer } of leaving) clearTimeout(timer);
    await Promise.all(leaving.map(({ registration }) => registration.close()));
    members.clear();
    events.end();
    return { kind: "stopped" };
  });
  const close = () => {
    stop.abort();
    return closed;
  };
  signal?.addEventListener("abort", close, { once: true });

  return {
    scope: "node-wide",
    options: resolved,
    get all() {
      return [...members.values()].map(({ registration }) => registration);
    },
    ...events.forListeners,
    closed,
    close,
    [Symbol.asyncDispose]: async () => void (await close()),
  };
}
