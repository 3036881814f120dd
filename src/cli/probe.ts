import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../base/errors";
import { createWakeUp } from "../base/pause";
import { isNodeWide, nameListsFrom, nodeDirectory, patternPairsOf, resolvePaths } from "../flags/paths";
import type { Flags } from "../flags/table";
import { bareCall } from "../grpc/client/bare-call";
import { identityMethods } from "../grpc/methods";
import { matchPattern } from "../host-path/path-pattern";
import { plain } from "../logging/escape";
import { judgeDriverName } from "../registrar/driver/driver-name";
import { driverOfSocket, SOCKET_TAIL } from "../registrar/model/socket-name";
import { whyUnwanted } from "../registrar/node-wide/name-lists";
import { socketsFitting } from "../registrar/node-wide/scan";
import { askInfo } from "../registrar/registration/self-report";
import { printError } from "../runtime/print";
import { callFileSystem } from "../unix/file-calls";
import { isHiddenSocket } from "../unix/private-socket";
import { parseCsiAddress } from "../unix/socket-path";

/**
 * `--mode=health-probe` and `--mode=ready-probe`: asks the registrar of this container over its registration socket, with
 * the flags that it was started with. For exec probes without an HTTP endpoint. An exec probe has one second, perhaps
 * with a tenth of a CPU, so this uses bare HTTP/2 without the gRPC library, and ends at the first answer that decides:
 * a frozen registrar of another driver must not fail the probes of all.
 *
 * Healthy: a registrar answers for the driver, ours or one for which ours stands by; or there can be no socket yet, because
 * the driver is missing, slow or failing. Ready: the driver is registered. Node-wide, healthy: one of ours answers for one
 * of the drivers; or a registrar answers for each driver that exists. Ready: both, and all are registered.
 */
export async function runProbe(flags: Flags, wanted: "health" | "ready"): Promise<number> {
  const paths = await resolvePaths(flags, nodeDirectory(process.env));
  if (paths.kind === "missing") return fail(paths.message);
  const directory = paths.pluginRegistrationPath;
  const end = new AbortController();
  try {
    const drivers = isNodeWide(flags) ? driversByPatterns(flags) : driverByPath(flags, paths.endpoint);
    const { sockets, problem } = await socketsIn(directory);
    const { answers, until, askFirst } = askAll(directory, sockets, flags.timeoutMs, end.signal);
    // Among many sockets those of the driver that answers now come first.
    const finding = sockets.length > AT_ONCE ? drivers.find() : undefined;
    finding?.then((found) => askFirst(found.map(({ name }) => name))).catch(() => {});
    const mine = () => answers.filter(({ endpoint }) => drivers.fits(endpoint));
    const isAnswered = () => mine().some(drivers.isOurs);
    const missing = (driver: string) =>
      fail(problem ?? `no registrar for ${driver} answers on a socket in ${directory}`);

    const isReady = wanted === "ready";
    if (isReady) {
      const isThere = await until(isAnswered, flags.timeoutMs);
      if (isThere && drivers.hasSeveral) await until(() => false, STRANGER_MS);
      if (mine().length === 0) return missing(drivers.text);
      const why = whyNotReady(mine());
      if (why !== undefined) return fail(why);
      if (!drivers.hasSeveral) return 0;
    } else if (await until(isAnswered, STRANGER_MS)) return 0;
    const found = await (finding ?? drivers.find());
    const unserved = () => found.filter(({ name }) => !drivers.isServed(name, answers));
    const isWell = () => (!isReady && isAnswered()) || unserved().length === 0;
    if (await until(isWell, flags.timeoutMs)) return 0;
    const texts = unserved().map(({ text }) => text);
    return missing(texts.join(", "));
  } catch (error) {
    return fail(messageOf(error));
  } finally {
    end.abort();
  }
}

/** How long a probe waits for a registrar that may be another driver's. */
const STRANGER_MS = 300;

/** How many sockets are asked at a time: each costs a connection, or an attempt where no process listens. */
const AT_ONCE = 32;

/**
 * Asks every socket, which may be thousands, each for `timeoutMs` at most; then those that came or were moved meanwhile. Begins
 * with no other once `signal` is aborted: the process ends only after its last look at a file.
 */
function askAll(directory: string, sockets: readonly string[], timeoutMs: number, signal: AbortSignal) {
  const answers: Answer[] = [];
  const known = new Set<string>();
  const waiting = new Set<string>();
  const news = createWakeUp();
  let asked = 0;
  const isAsking = () => waiting.size + asked > 0;
  const ask = async (name: string) => {
    waiting.delete(name);
    asked += 1;
    const answer = await askInfo(join(directory, name), { timeoutMs }).catch(() => undefined);
    asked -= 1;
    if (answer !== undefined) answers.push(answer);
    if (answer !== undefined || !isAsking()) news.call();
  };
  const askNext = async () => {
    for (const name of waiting) {
      if (signal.aborted) return;
      await ask(name); // Another one has deleted what it asks.
    }
  };
  /** Whether there are any that were not asked before. */
  const askNew = (names: readonly string[]): boolean => {
    for (const name of names) if (!known.has(name)) waiting.add(name);
    for (const name of waiting) known.add(name);
    const isAny = waiting.size > 0;
    for (let nth = 0; nth < AT_ONCE; nth += 1) askNext().catch(() => {}); // It never rejects.
    return isAny;
  };
  askNew(sockets);
  return {
    answers,
    /** Asks the sockets of these drivers at once. */
    askFirst: (drivers: readonly string[]): void => {
      const theirs = [...waiting].filter((name) => drivers.includes(driverOfSocket(name) ?? ""));
      Promise.all(theirs.slice(0, AT_ONCE).map(ask)).catch(() => {});
    },
    /** Resolves when `isDecided`, when all have answered, or after `limitMs`; with whether it is decided. */
    until: async (isDecided: () => boolean, limitMs: number): Promise<boolean> => {
      const limit = AbortSignal.timeout(limitMs);
      while (!isDecided() && !limit.aborted)
        if (isAsking()) await news.wait(limit);
        else if (!askNew((await socketsIn(directory)).sockets)) break;
      return isDecided();
    },
  };
}

type Drivers = ReturnType<typeof driversByPatterns>;

function driverByPath({ csiAddress }: Flags, path: string): Drivers {
  return {
    text: path,
    hasSeveral: false,
    fits: (endpoint) => endpoint === path,
    isOurs: () => true,
    find: async () => {
      const name = await quickNameOf(parseCsiAddress(csiAddress));
      return name === undefined ? [] : [{ name, text: path }];
    },
    isServed: () => false,
  };
}

function driversByPatterns(flags: Flags) {
  const pairs = patternPairsOf(flags);
  const lists = nameListsFrom(flags);
  return {
    text: pairs.map(({ endpoint }) => endpoint.text).join(" "),
    hasSeveral: true,
    fits: (endpoint: string): boolean => pairs.some((pair) => matchPattern(pair.endpoint, endpoint)),
    /** Whether a registrar that answers for such a driver is this container's, or has its work. */
    isOurs: ({ report }: Answer): boolean => report !== undefined,
    /** The drivers for which a healthy registrar would answer. */
    find: async () => {
      const fitting = await Promise.all(
        pairs.map((pair) => socketsFitting(pair.csiAddress.text, { onRead: reportUnread })),
      );
      const paths = [...new Set(fitting.flat())];
      const names = await Promise.all(paths.map(quickNameOf));
      return paths.flatMap((path, index) => {
        const name = names[index];
        if (name === undefined || whyUnwanted(name, path, lists) !== undefined) return [];
        if (judgeDriverName(name).kind === "unsafe") return [];
        return [{ name, text: `${plain(name)} at ${plain(path)}` }];
      });
    },
    isServed: (driverName: string, answers: readonly Answer[]): boolean =>
      answers.some(({ name }) => name === driverName),
  };
}

function whyNotReady(answers: readonly Answer[]): string | undefined {
  const notReady = answers.filter(({ report }) => report?.state !== "registered");
  if (notReady.length === 0) return undefined;
  const reasons = notReady.map(({ name, endpoint, report }) => {
    const driver = `${plain(name)} at ${plain(endpoint)}`;
    return report === undefined
      ? `another registrar holds the driver's registration socket, and does not say whether the driver is registered (${driver})`
      : `not registered: state is ${plain(report.state)} (${driver})`;
  });
  return reasons.join("; ");
}

/** The registration sockets there, or why they are unknown, which does not matter while there is no driver. */
async function socketsIn(directory: string) {
  try {
    const entries = await callFileSystem(directory, () => readdir(directory, { withFileTypes: true }));
    const mayServe = entries.filter((entry) => entry.isSocket() || entry.isSymbolicLink());
    const names = mayServe.map(({ name }) => name);
    const sockets = names.filter((name) => name.endsWith(SOCKET_TAIL) || isHiddenSocket(name));
    return { sockets, problem: undefined };
  } catch (error) {
    const problem = `cannot read the plugin registration directory ${directory}: ${messageOf(error)}`;
    return { sockets: [], problem: `${problem}; is it mounted, and --plugin-registration-path right?` };
  }
}

/** No failure: a restart does not make it readable. */
function reportUnread(directory: string, error: unknown): void {
  if (error !== undefined) printError(`cannot look for CSI drivers in ${directory}: ${messageOf(error)}`);
}

function fail(reason: string): number {
  printError(reason);
  return 1;
}

/** `report` is undefined for another registrar. */
type Answer = Awaited<ReturnType<typeof askInfo>>;

/** A driver that takes longer counts as slow: a probe itself has one second by default. */
const QUICK_DRIVER_MS = 300;

/** The name of the driver behind a socket; undefined if none answers at once. */
async function quickNameOf(csiSocketPath: string): Promise<string | undefined> {
  const { path, responseDeserialize } = identityMethods.GetPluginInfo;
  const asking = bareCall(csiSocketPath, path, { timeoutMs: QUICK_DRIVER_MS });
  return asking.then(
    ({ grpcStatus, message }) => (grpcStatus === "0" ? responseDeserialize(message).name : undefined),
    () => undefined,
  );
}
