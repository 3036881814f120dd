import type { Logger } from "../logging/logger";
import { fillIn } from "./driver-template";
import type { ObservedRegistration } from "./observed-registrations";

/** Warns once of each driver whose name would make a taint or condition one that other software keeps. */
export function createNameWarnings(
  templates: readonly string[],
  parentLog: Logger,
): (registrations: readonly ObservedRegistration[]) => void {
  const log = parentLog.named("node-readiness");
  let warned: readonly string[] = [];
  return (registrations) => {
    const names = [...new Set(registrations.flatMap(({ driverName }) => driverName ?? []))];
    const refused = names.filter((name) => templates.some((one) => fillIn(one, name) === undefined));
    for (const csiDriverName of refused.filter((name) => !warned.includes(name)))
      log.warn("Driver's name is that of others, its taints and conditions are left alone", {
        csiDriverName,
        names: templates.join(", "),
        check: "is this the CSI driver that you deployed? --deny-drivers keeps it out",
      });
    warned = refused;
  };
}
