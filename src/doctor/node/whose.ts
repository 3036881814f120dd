import type { PluginInfo } from "../../grpc/protos";
import { whyUnwanted } from "../../registrar/node-wide/name-lists";
import { driverOfSocket } from "../../registrar/socket/socket-name";
import type { DriverFacts, Facts, RegistrationFacts } from "./facts";

/** Whose registration the doctor was called for. */
export type Whose =
  | { readonly kind: "driver"; readonly name: string }
  /** No driver was named: every one is looked at. */
  | { readonly kind: "all" }
  /** A driver was named by its socket, and its name is unknown. */
  | { readonly kind: "nameless" };

export function whoseIn({ driver, target, registrations }: Facts): Whose {
  if (target.csiSocketPath === undefined) return { kind: "all" };
  if (driver?.identity.kind === "answered") return { kind: "driver", name: driver.identity.value.name };
  const said = registrations.find(
    ({ info }) => info.kind === "answered" && info.value.endpoint === target.kubeletRegistrationPath,
  );
  return said?.info.kind === "answered"
    ? { kind: "driver", name: said.info.value.name }
    : { kind: "nameless" };
}

/** Whether a registration is the one that the doctor was called for: what is wrong with others is worth a warning. */
export function isTargets(one: RegistrationFacts, facts: Facts): boolean {
  const whose = whoseIn(facts);
  const answered = one.info.kind === "answered" ? one.info.value : undefined;
  if (whose.kind === "all")
    return answered ? answered.type === "CSIPlugin" : driverLeftIn(one, facts) !== undefined;
  if (whose.kind === "nameless") return false;
  return (answered ? answered.name : driverOfSocket(one.socket.path)) === whose.name;
}

/** The name of the driver that was found, and whose only registration socket is this one, which does not answer. */
export function driverLeftIn({ socket, info }: RegistrationFacts, facts: Facts): string | undefined {
  const name = driverOfSocket(socket.path);
  if (name === undefined || info.kind === "answered") return undefined;
  const isAnswered = facts.registrations.some(
    (other) => other.info.kind === "answered" && other.info.value.name === name,
  );
  const isThere = facts.found.some(
    (driver) =>
      nameTold(driver) === name &&
      hasNodeService(driver) &&
      whyUnwanted(name, driver.socket.path, facts.target.names) === undefined,
  );
  return isThere && !isAnswered ? name : undefined;
}

/** A controller has none, and is not to be registered. */
export function hasNodeService({ nodeInfo }: DriverFacts): boolean {
  return !(nodeInfo.kind === "failed" && nodeInfo.code === "Unimplemented");
}

/** A socket on which a CSI driver's registrar answered. */
export interface Answering {
  readonly path: string;
  readonly info: PluginInfo;
  readonly endpoint: RegistrationFacts["endpoint"];
  readonly isTargets: boolean;
}

export function answeringIn(facts: Facts): readonly Answering[] {
  return facts.registrations.flatMap((one) =>
    one.info.kind === "answered" && one.info.value.type === "CSIPlugin"
      ? [
          {
            path: one.socket.path,
            info: one.info.value,
            endpoint: one.endpoint,
            isTargets: isTargets(one, facts),
          },
        ]
      : [],
  );
}

/** A driver by the name that it tells; undefined where it tells none. */
export function nameTold({ identity }: Pick<DriverFacts, "identity">): string | undefined {
  return identity.kind === "answered" ? identity.value.name : undefined;
}
