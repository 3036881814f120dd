import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../base/errors";
import { createWakeUp } from "../base/pause";
import { isNodeWide, nodeDirectory, type Paths, patternPairsOf, resolvePaths } from "../flags/paths";
import type { Flags } from "../flags/table";
import { bareCall } from "../grpc/client/bare-call";
import { identityMethods } from "../grpc/methods";
import { plain } from "../logging/escape";
import { driverOfSocket, SOCKET_TAIL } from "../registrar/model/socket-name";
import { askRegistrar } from "../registrar/node-wide/probe-socket";
import { askInfo } from "../registrar/registration/self-report";
import { printError } from "../runtime/print";
import { callFileSystem } from "../unix/file-calls";
import { dotKindOf } from "../unix/private-socket";
import { parseCsiAddress } from "../unix/socket-path";

/**
 * `--mode=health-probe` and `--mode=ready-probe`: asks the registrar of this container, with the flags that it was started
 * with. For exec probes without an HTTP endpoint. An exec probe has one second, perhaps with a tenth of a CPU, so this uses bare
 * HTTP/2 without the gRPC library, and ends at the first answer that decides: a frozen registrar of another driver must not
 * fail the probes of all.
 */
export async function runProbe(flags: Flags, wanted: "health" | "ready"): Promise<number> {
  const paths = await resolvePaths(flags, nodeDirectory(process.env));
  if (paths.kind === "missing") return fail(paths.message);
  const ask = isNodeWide(flags) ? probeNode : probeDriver;
  return ask(flags, paths, wanted === "ready").catch((error) => fail(messageOf(error)));
}

type Place = Pick<Paths, "endpoint" | "pluginRegistrationPath">;

/** Healthy: the node-wide registrar answers. Ready: every driver that counts is registered. */
async function probeNode(flags: Flags, { pluginRegistrationPath: directory }: Place, isReady: boolean) {
  const pairs = patternPairsOf(flags);
  const { sockets, problem } = await socketsIn(directory, (name) => dotKindOf(name) === "ask");
  const paths = sockets.map((name) => join(directory, name));
  const { unregistered } = (await askRegistrar(paths, pairs, flags.timeoutMs).catch(() => undefined)) ?? {};
  if (unregistered === undefined) {
    const patterns = pairs.map(({ endpoint }) => endpoint.text).join(" ");
    return fail(problem ?? `no registrar of this container for ${patterns} answers in ${directory}`);
  }
  if (!isReady || unregistered.length === 0) return 0;
  return fail(`not registered: ${unregistered.map(plain).join("; ")}`);
}

/**
 * Healthy: a registrar answers for the driver, ours or one for which ours stands by; or there can be no socket yet, because the
 * driver is missing, slow or failing. Ready: the driver is registered.
 */
async function probeDriver(flags: Flags, { endpoint, pluginRegistrationPath }: Place, isReady: boolean) {
  const { csiAddress, timeoutMs } = flags;
  const findName = () => quickNameOf(parseCsiAddress(csiAddress));
  const end = new AbortController();
  try {
    const { sockets, problem } = await socketsIn(pluginRegistrationPath, isRegistrationSocket);
    const asked = askAll(pluginRegistrationPath, sockets, timeoutMs, end.signal);
    // Among many sockets those of the driver that answers now come first.
    const finding = sockets.length > AT_ONCE ? findName() : undefined;
    finding?.then(asked.askFirst).catch(() => {}); // It never rejects.
    const mine = () => asked.answers.filter((one) => one.endpoint === endpoint);
    const isAnswered = () => mine().length > 0;
    if (!isReady) {
      if (await asked.until(isAnswered, STRANGER_MS)) return 0;
      if ((await (finding ?? findName())) === undefined) return 0;
    }
    if (!(await asked.until(isAnswered, timeoutMs)))
      return fail(problem ?? `no registrar for ${endpoint} answers on a socket in ${pluginRegistrationPath}`);
    const why = isReady ? mine().flatMap(whyNotReady) : [];
    return why.length > 0 ? fail(why.join("; ")) : 0;
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
    /** Asks the sockets of this driver at once. */
    askFirst: (driver: string | undefined): void => {
      const its = [...waiting].filter((name) => driverOfSocket(name) === driver);
      Promise.all(its.slice(0, AT_ONCE).map(ask)).catch(() => {});
    },
    /** Resolves when `isDecided`, when all have answered, or after `limitMs`; with whether it is decided. */
    until: async (isDecided: () => boolean, limitMs: number): Promise<boolean> => {
      const limit = AbortSignal.timeout(limitMs);
      while (!isDecided() && !limit.aborted)
        if (isAsking()) await news.wait(limit);
        else if (!askNew((await socketsIn(directory, isRegistrationSocket)).sockets)) break;
      return isDecided();
    },
  };
}

function whyNotReady({ name, endpoint, report }: Answer): readonly string[] {
  const driver = `${plain(name)} at ${plain(endpoint)}`;
  if (report === undefined)
    return [
      `another registrar holds the driver's registration socket, and does not say whether the driver is registered (${driver})`,
    ];
  if (report.state === "registered") return [];
  return [`not registered: state is ${plain(report.state)} (${driver})`];
}

const isRegistrationSocket = (name: string) => name.endsWith(SOCKET_TAIL) || dotKindOf(name) === "out";

/** The sockets of such names there, or why they are unknown, which does not matter to one driver while that is away. */
async function socketsIn(directory: string, isWanted: (name: string) => boolean) {
  try {
    const entries = await callFileSystem(directory, () => readdir(directory, { withFileTypes: true }));
    const mayServe = entries.filter((entry) => entry.isSocket() || entry.isSymbolicLink());
    return { sockets: mayServe.map(({ name }) => name).filter(isWanted), problem: undefined };
  } catch (error) {
    const problem = `cannot read the plugin registration directory ${directory}: ${messageOf(error)}`;
    return { sockets: [], problem: `${problem}; is it mounted, and --plugin-registration-path right?` };
  }
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
