import { version as nodeVersion } from "node:process";
import { invalidOption, messageOf, refuse } from "../base/errors";
import { show } from "../options/option-kinds";
import type { Registration } from "../registrar/registration/registration";
import { only, type Registrations } from "../registrar/registration/registrations";
import { METRICS, type ProcessFacts, UNKNOWN_DRIVER } from "./metric-table";
import { defineMetrics } from "./prometheus";

// Without prom-client's own types: not every user of the library has it.

/** The module `prom-client`, as its caller has it. */
export interface PromClient {
  /** Its class of this name. */
  readonly Counter: new (
    configuration: never,
  ) => unknown;
  /** Its class of this name. */
  readonly Gauge: new (
    configuration: never,
  ) => unknown;
  /** Its class of this name. */
  readonly Histogram: new (
    configuration: never,
  ) => unknown;
  /** Its registry of this name, which is used if no other is given. */
  readonly register: { registerMetric(metric: never): void };
}

/**
 * Adds the metrics of a registration, or of a node's, to a registry of the caller's prom-client (by default its own), with the
 * names and labels that the package's alerts and dashboard expect. They stay when the registration ends. Those of the process
 * are `collectDefaultMetrics`' own. Throws INVALID_OPTION for anything else, and where the registry has them already.
 */
export function addMetrics(
  given: Registration | Registrations,
  client: PromClient,
  registry: PromClient["register"] = Object(client).register,
): void {
  const isOne = typeof Object(given).status === "function";
  if (typeof Object(given).subscribe !== "function" || !(isOne || Array.isArray(Object(given).all)))
    refuse(`addMetrics is given ${show(given)}; it takes a registration, or a node's`);
  for (const name of ["Counter", "Gauge", "Histogram"] as const)
    if (typeof Object(client)[name] !== "function")
      refuse(`addMetrics: the client has no ${name}; it takes the module prom-client`);
  if (typeof Object(registry).registerMetric !== "function")
    refuse(`addMetrics: the registry is ${show(registry)}; it takes one of prom-client`);
  const registrations = "scope" in given ? given : only(given);
  const rows = METRICS.filter(({ name }) => name.startsWith("registrar_"));
  const facts = { version: "library", nodeVersion } as ProcessFacts; // The rows of the process need the rest.
  let observe: ReturnType<typeof defineMetrics>;
  try {
    observe = defineMetrics(client as never, [registry as never], rows, registrations, facts);
  } catch (cause) {
    throw invalidOption(`addMetrics: ${messageOf(cause)}`, { cause });
  }
  registrations.subscribe(({ registration, ...event }) => {
    if (event.kind === "driver-call")
      observe(event.call, registration.status().identity?.name ?? UNKNOWN_DRIVER);
  });
}
