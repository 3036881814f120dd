import { messageOf } from "../base/errors";
import type { ListenAddress } from "../diagnostics/endpoint";
import type { ProcessFacts } from "../diagnostics/metric-table";
import type { ShownNodeReadiness } from "../diagnostics/routes";
import { warnAboutFlags, warnAboutWords } from "../flags/flag-warnings";
import { nodeDirectory, resolvePaths } from "../flags/paths";
import { endpointOf, portsProblem, registrationOf, wantsNodeReadiness } from "../flags/start-options";
import type { Flags } from "../flags/table";
import type { Logger } from "../logging/logger";
import type { LoggingResolution } from "../logging/logging-options";
import type { Registration } from "../registrar/registration/registration";
import { only, type Registrations } from "../registrar/registration/registrations";
import { startDriverRegistration } from "../registrar/start-driver-registration";
import type { NodeRegistrar } from "../registrar/start-node-registrations";
import { createCliLogger } from "../runtime/cli-logger";
import { collectWhenQuiet, keepHeapSmall } from "../runtime/garbage";
import { abortOnSignals } from "../runtime/signals";
import { writeTerminationLog } from "../runtime/termination-log";
import { version } from "../runtime/version";
import { countDescriptorNeed, descriptorFix, descriptorLimit } from "../unix/descriptors";
import { findFile } from "../unix/files";

/** Registers drivers until it is ended: by a signal, which is exit code 0, or by a failure, which is 1. */
export async function runRegister(flags: Flags, logging: LoggingResolution): Promise<number> {
  const log = await createCliLogger(logging);
  const leaveReason = (reason: string) =>
    writeTerminationLog(flags.terminationLog, reason, { create: flags.given.has("termination-log") });
  const fail = (error: unknown, message: string) => {
    log.error(error, message);
    leaveReason(error === undefined ? message : `${message}: ${messageOf(error)}`);
    return 1;
  };
  if (logging.kind === "invalid") return fail(new Error(logging.error), "LoggingConfiguration is invalid");
  const signal = abortOnSignals((name) => log.info("Stopping", { signal: name }));
  try {
    const paths = await resolvePaths(flags, nodeDirectory(process.env));
    if (paths.kind === "missing") {
      const exitCode = fail(undefined, paths.message);
      warnAboutWords(flags, log);
      return exitCode;
    }

    log.info("Version", { version, node: process.version });
    log.info("Running node-driver-registrar", { mode: flags.mode });
    const ports = portsProblem(flags);
    if (ports !== undefined) return fail(undefined, ports);
    await warnAboutFlags(flags, paths, log);
    const [http, asked] = [endpointOf(flags), registrationOf(flags, paths)];
    // Before a registration, which may take the last file descriptors.
    const diagnostics = http && { http, ...(await import("../diagnostics")) };
    const keepNodeReady = wantsNodeReadiness(flags)
      ? await (await import("./node-readiness")).prepareNodeReadiness(flags, process.env)
      : undefined;
    signal.throwIfAborted();
    const [needed, limit] = [countDescriptorNeed()(1), descriptorLimit()];
    if (limit < needed)
      log.warn("Too few file descriptors: kubelet, probes and scrapers may get no connection", {
        limit,
        check: descriptorFix(needed),
      });
    warnIfNoDirectory(paths.pluginRegistrationPath, log).catch(() => {}); // It never rejects.
    await using registrar = await start(asked, { signal, log });
    const registrations = "all" in registrar ? registrar : only(registrar);
    keepHeapSmall().catch(() => {}); // Then the heap stays as V8 has it.
    collectWhenQuiet(registrations);
    await using nodeReadiness = await keepNodeReady?.(registrations, log);
    startDiagnostics(flags, diagnostics, registrations, nodeReadiness?.shown, log);
    const outcome = await registrar.closed;
    if (outcome.kind === "stopped") return 0;
    leaveReason(outcome.error.message);
    return 1;
  } catch (error) {
    if (signal.aborted) return 0;
    return fail(error, "Cannot start");
  }
}

/** A sidecar fails for it only when its driver has answered. Kubelet may still create it, so that this is not the end. */
async function warnIfNoDirectory(pluginRegistrationPath: string, log: Logger): Promise<void> {
  const found = await findFile(pluginRegistrationPath);
  if (found === "gone" || (typeof found === "object" && !found.isDirectory()))
    log.warn("There is no plugin registration directory", {
      pluginRegistrationPath,
      check:
        "is kubelet's plugins_registry mounted here, and does --plugin-registration-path name that mount?",
    });
}

async function start(
  asked: ReturnType<typeof registrationOf>,
  context: { readonly signal: AbortSignal; readonly log: Logger },
): Promise<Registration | NodeRegistrar> {
  if (asked.kind === "one") return startDriverRegistration(asked.options, context);
  const { startNodeRegistrations } = await import("../registrar/start-node-registrations");
  return startNodeRegistrations(asked.options, context);
}

type Diagnostics = { readonly http: ListenAddress } & typeof import("../diagnostics");

function startDiagnostics(
  flags: Flags,
  diagnostics: Diagnostics | undefined,
  registrations: Registrations,
  nodeReadiness: ShownNodeReadiness | undefined,
  log: Logger,
): void {
  if (diagnostics === undefined) {
    log.info("Skipping HTTP server");
    return;
  }
  const { http, createRoutes, startDiagnosticsServer } = diagnostics;
  const { endpoint } = http;
  log.info("Starting HTTP server", { endpoint });
  const profiledCommandLine = flags.enablePprof ? process.argv : undefined;
  if (profiledCommandLine) log.info("Starting profiling", { endpoint });
  const routes = createRoutes(
    registrations,
    { ...flags, profiledCommandLine, nodeReadiness },
    { log, facts: processFacts() },
  );
  startDiagnosticsServer(http, routes, { log });
}

function processFacts(): ProcessFacts {
  return {
    version,
    nodeVersion: process.version,
    startedAt: Date.now() - process.uptime() * 1000,
    uptimeSeconds: process.uptime,
    usage: () => {
      const { user, system } = process.cpuUsage();
      const { rss, heapUsed } = process.memoryUsage();
      return { cpuSeconds: (user + system) / 1e6, residentBytes: rss, heapBytes: heapUsed };
    },
  };
}
