import { boundText, escapeUnprintable } from "../logging/escape";
import type { Registration } from "../registrar/registration/registration";
import type { Registrations } from "../registrar/registration/registrations";
import { isHeld, registrationsThatCount, shownName, stateText } from "../registrar/registration/standing";

interface CheckResult {
  readonly passed: boolean;
  /** Why it failed, or a remark on a check that passed. */
  readonly text?: string | undefined;
}

export interface HealthCheck {
  readonly name: string;
  /** Listed, but counted only if the client requires it by name. */
  readonly informative?: boolean;
  run(): CheckResult | Promise<CheckResult>;
}

export const passes = (text?: string): CheckResult => ({ passed: true, text });
export const fails = (text: string): CheckResult => ({ passed: false, text });

/** The checks of every driver that counts, or of `driver`. Node-wide their names begin with the driver's. */
export function readinessChecks(
  registrations: Registrations,
  { requireDriver, driver }: { readonly requireDriver: boolean; readonly driver: string | null },
): readonly HealthCheck[] {
  const isNodeWide = registrations.scope === "node-wide";
  const counted = registrationsThatCount(registrations);
  const meant = registrations.all.filter((one) => driver === null || shownName(one) === driver);
  const wanted = meant.filter((one) => counted.includes(one));
  const uncounted = meant.filter((one) => !counted.includes(one));
  if (driver !== null && wanted.length === 0 && !uncounted.some(standsBy)) {
    const nameless = registrations.all.filter(({ status }) => status().identity === undefined).length;
    const others = nameless === 0 ? "" : `; ${nameless} have not told one that is accepted`;
    const unknown = `no CSI driver here has this name${others}`;
    return [{ name: driver, run: () => fails(uncounted[0] ? stateText(uncounted[0].status()) : unknown) }];
  }
  const dials = !isNodeWide || driver !== null;
  const checks = wanted.flatMap((one) =>
    checksOf(one, { requireDriver, dials, prefix: isNodeWide ? `${shownName(one)}/` : "" }),
  );
  return [...checks, ...uncounted.map(uncountedCheck)];
}

/** Another registrar serves the driver, and this one takes over when that one ends: ready. */
const standsBy = ({ status }: Registration) => status().state === "standby";

/** A found socket whose driver does not count: listed, but never failing. */
const uncountedCheck = (registration: Registration): HealthCheck => ({
  name: registration.csiAddress ?? shownName(registration),
  run: () => passes(`does not count, ${stateText(registration.status())}`),
});

const LOST = "the connection to the CSI driver is lost";

/**
 * Ready: kubelet said that the driver is registered, and our registration socket is in place; with `dials` it must answer,
 * which is too much work for each driver of a node. With `requireDriver` there must be a connection to the driver, too.
 */
function checksOf(
  registration: Registration,
  options: { readonly requireDriver: boolean; readonly dials: boolean; readonly prefix: string },
): readonly HealthCheck[] {
  const check = (name: string, run: HealthCheck["run"]) => ({ name: `${options.prefix}${name}`, run });
  const status = registration.status();
  const { connected, identity, registrationSocketPath, state } = status;
  const isRegistered = check("registered", () =>
    state === "registered" ? passes() : fails(stateText(status)),
  );
  if (isHeld(status)) return [isRegistered];
  return [
    check("driver", () => {
      if (connected) return passes();
      if (identity === undefined) return fails("the CSI driver has not answered yet");
      return options.requireDriver ? fails(LOST) : passes(`${LOST}, which --require-driver would count`);
    }),
    check("socket", async () => {
      if (registrationSocketPath === undefined) return fails("there is no registration socket yet");
      const found = options.dials ? await registration.selfCheck() : undefined;
      return found === undefined || found.kind === "ok" ? passes() : fails(found.text);
    }),
    isRegistered,
  ];
}

/**
 * Reports as Kubernetes' own health paths: `ok`, or with `?verbose` and after a failure one line for each check.
 * `?exclude=NAME` leaves a check out, `?require=NAME` counts an informative one.
 */
export async function runChecks(path: string, checks: readonly HealthCheck[], query: URLSearchParams) {
  const [exclude, require] = [query.getAll("exclude"), query.getAll("require")];
  const lines: string[] = [];
  // Names, reasons and queries contain texts of drivers, kubelet and clients.
  const say = (line: string) => lines.push(escapeUnprintable(boundText(line)));
  let isReady = true;
  for (const { name, informative = false, run } of checks) {
    if (exclude.includes(name)) {
      say(`[+]${name} excluded: ok`);
      continue;
    }
    const { passed, text } = await run();
    const counts = !informative || require.includes(name);
    isReady &&= passed || !counts;
    const outcome = passed ? "ok" : `failed${counts ? "" : " (does not count)"}`;
    say(`[${passed ? "+" : "-"}]${name} ${outcome}${text === undefined ? "" : `: ${text}`}`);
  }
  const unknown = exclude.filter((name) => !checks.some((check) => check.name === name));
  if (unknown.length > 0)
    say(`warn: some health checks cannot be excluded: no matches for ${unknown.join(", ")}`);
  if (isReady && !query.has("verbose")) return { passed: isReady, body: "ok" };
  lines.push(`${path} check ${isReady ? "passed" : "failed"}\n`);
  return { passed: isReady, body: lines.join("\n") };
}
