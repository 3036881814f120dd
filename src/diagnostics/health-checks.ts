import { boundText, escapeUnprintable } from "../logging/escape";
import type { StateName } from "../registrar/model/state";
import { reasonOf } from "../registrar/model/status";
import type { Registration } from "../registrar/registration/registration";
import type { Registrations } from "../registrar/registrations";
import { type DescriptorWait, describeWait, descriptorFix } from "../unix/descriptors";

export interface HealthCheck {
  readonly name: string;
  /** Listed, but counted only if the client requires it by name. */
  readonly informative?: boolean;
  /** Resolves with the reason of a failure; undefined if the check passes. */
  run(): Promise<string | undefined>;
  /** A remark on a check that passes. */
  note?(): string | undefined;
}

/** A driver's name, or its socket's address until it answers. */
function nameOf({ status, csiAddress }: Registration): string {
  return status().identity?.name ?? csiAddress ?? "";
}

/** The checks of every driver that counts, or of `driver`. Node-wide their names begin with the driver's. */
export function readinessChecks(
  registrations: Registrations,
  options: { readonly requireDriver: boolean; readonly driver: string | null },
): readonly HealthCheck[] {
  const { driver } = options;
  const isNodeWide = registrations.scope === "node-wide";
  const meant = registrations.all.filter((one) => driver === null || nameOf(one) === driver);
  const wanted = registrationsThatCount(registrations).filter((one) => meant.includes(one));
  const uncounted = meant.filter((one) => !wanted.includes(one));
  if (driver !== null && wanted.length === 0 && !uncounted.some(standsBy)) {
    const [known] = uncounted;
    const why = known === undefined ? whyUnknown(driver, registrations) : stateText(known);
    return [{ name: driver, run: async () => why }];
  }
  const dials = !isNodeWide || driver !== null;
  const checks = wanted.flatMap((one) =>
    checksOf(one, { ...options, dials, prefix: isNodeWide ? `${nameOf(one)}/` : "" }),
  );
  const checkOfAll = isNodeWide && driver === null ? [descriptorCheck(registrations)] : [];
  return [...checks, ...uncounted.map(uncountedCheck), ...checkOfAll];
}

const waitText = (wait: DescriptorWait) => `${describeWait(wait)}; ${descriptorFix(wait)}`;

/** Drivers without a name may be any: a rolling update that starves them of file descriptors must not go on. */
const descriptorCheck = (registrations: Registrations): HealthCheck => ({
  name: "descriptors",
  run: async () => {
    const { waitingSockets } = registrations;
    return waitingSockets && waitText(waitingSockets.descriptors);
  },
});

function whyUnknown(driver: string, { waitingSockets }: Registrations): string {
  if (waitingSockets === undefined) return "no CSI driver here has this name";
  const { csiAddresses, descriptors } = waitingSockets;
  const isOne = csiAddresses.includes(driver);
  const which = isOne
    ? "it is one of those that wait"
    : "it may be one of those that have not been asked their names";
  return `${which}: ${waitText(descriptors)}`;
}

/** Another registrar serves the driver, and this one takes over when that one ends: ready. */
const standsBy = ({ status }: Registration) => status().state === "standby";

function stateText({ status }: Registration): string {
  const now = status();
  const since = now.history.at(-1)?.at;
  const sinceText = since === undefined ? "" : ` since ${new Date(since).toISOString()}`;
  const reason = reasonOf(now);
  return `state is ${now.state}${sinceText}${reason === undefined ? "" : `: ${reason}`}`;
}

/** A found socket whose driver does not count: listed, but never failing. */
function uncountedCheck(registration: Registration): HealthCheck {
  return {
    name: registration.csiAddress ?? nameOf(registration),
    run: async () => undefined,
    note: () => {
      const status = registration.status();
      return `does not count, state is ${status.state}: ${reasonOf(status) ?? "it is served elsewhere"}`;
    },
  };
}

/**
 * The registrations that count: a sidecar's own. Node-wide, those that the registrar has published or failed to publish:
 * not a socket without a driver, a name that is not accepted, or a driver that another registrar serves.
 */
export function registrationsThatCount({ scope, all }: Registrations): readonly Registration[] {
  if (scope === "one-driver") return all;
  const others: readonly StateName[] = ["waiting", "standby", "stopping", "stopped"];
  return all.filter(({ status }) => {
    const { state, identity, outcome } = status();
    // A failed registration is tried again; until then its driver is not registered.
    return !others.includes(state) || (identity !== undefined && outcome?.kind === "failed");
  });
}

const LOST = "the connection to the CSI driver is lost";

/**
 * Ready: kubelet said that the driver is registered, and our registration socket is in place; with `dials` it must answer,
 * which is too much work for each driver of a node. With `requireDriver` there must be a connection to the driver too;
 * kubelet has its own.
 */
function checksOf(
  registration: Registration,
  options: { readonly requireDriver: boolean; readonly dials: boolean; readonly prefix: string },
): readonly HealthCheck[] {
  const { requireDriver, dials, prefix } = options;
  return [
    {
      name: `${prefix}driver`,
      run: async () => {
        const { connected, identity } = registration.status();
        if (connected || (identity !== undefined && !requireDriver)) return undefined;
        return identity === undefined ? "the CSI driver has not answered yet" : LOST;
      },
      note: () =>
        registration.status().connected ? undefined : `${LOST}, which --require-driver would count`,
    },
    {
      name: `${prefix}socket`,
      run: async () => {
        if (registration.status().registrationSocketPath === undefined)
          return "there is no registration socket yet";
        const check = dials ? await registration.selfCheck() : ({ kind: "ok" } as const);
        return check.kind === "ok" ? undefined : check.text;
      },
    },
    {
      name: `${prefix}registered`,
      run: async () => (registration.status().state === "registered" ? undefined : stateText(registration)),
    },
  ];
}

/**
 * Reports as Kubernetes' own health paths: `ok`, or with `?verbose` and after a failure one line for each check.
 * `?exclude=NAME` leaves a check out, `?require=NAME` counts an informative one.
 */
export async function runChecks(
  path: string,
  checks: readonly HealthCheck[],
  query: URLSearchParams,
): Promise<{ readonly passed: boolean; readonly body: string }> {
  const [exclude, require] = [query.getAll("exclude"), query.getAll("require")];
  const lines: string[] = [];
  // Names, reasons and queries contain texts of drivers, kubelet and clients.
  const say = (line: string) => lines.push(escapeUnprintable(boundText(line)));
  let passed = true;
  for (const { name, informative = false, run, note } of checks) {
    if (exclude.includes(name)) {
      say(`[+]${name} excluded: ok`);
      continue;
    }
    const problem = await run();
    const counts = !informative || require.includes(name);
    passed &&= problem === undefined || !counts;
    const failed = `failed${counts ? "" : " (does not count)"}`;
    const said = note?.();
    const passing = said === undefined ? `[+]${name} ok` : `[+]${name} ok: ${said}`;
    say(problem === undefined ? passing : `[-]${name} ${failed}: ${problem}`);
  }
  const unknown = exclude.filter((name) => !checks.some((check) => check.name === name));
  if (unknown.length > 0)
    say(`warn: some health checks cannot be excluded: no matches for ${unknown.join(", ")}`);
  if (passed && !query.has("verbose")) return { passed, body: "ok" };
  return { passed, body: `${lines.join("\n")}\n${path} check ${passed ? "passed" : "failed"}\n` };
}
