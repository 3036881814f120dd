import { basename, dirname } from "node:path";
import { messageOf } from "../errors";
import type { PluginInfo } from "../grpc/protos";
import { registrationSocketPath } from "../registrar/registration/registration-socket";
import { validateVersions } from "../simulator/driver-versions";
import { behaviourOf } from "../simulator/versions";
import type { Facts, RegistrationFacts, SocketFacts } from "./facts";
import { isWithin } from "./mountinfo";

/** Whose registration the doctor was called for. */
export type Patient =
  | { readonly kind: "driver"; readonly name: string }
  /** No driver was named: every one is looked at. */
  | { readonly kind: "all" }
  /** A driver was named by its socket, and nobody tells what it is called. */
  | { readonly kind: "nameless" };

/** A socket on which a plugin answered. */
interface Living {
  readonly path: string;
  readonly info: PluginInfo;
  readonly endpoint: RegistrationFacts["endpoint"];
  /** Whether it is the patient's: what is wrong with others is worth a warning. */
  readonly isPatients: boolean;
}

export function patientOf({ driver, target, registrations }: Facts): Patient {
  if (target.csiSocketPath === undefined) return { kind: "all" };
  if (driver?.identity.kind === "answered") return { kind: "driver", name: driver.identity.value.name };
  const said = registrations.find(
    ({ info }) => info.kind === "answered" && info.value.endpoint === target.kubeletRegistrationPath,
  );
  return said?.info.kind === "answered"
    ? { kind: "driver", name: said.info.value.name }
    : { kind: "nameless" };
}

/** The patient's way to kubelet: one situation for each of its sockets, or for the lack of one. */
export function registration(facts: Facts) {
  const { directory, registrations } = facts;
  const patient = patientOf(facts);
  if (directory.kind !== "folder") return [];
  if (patient.kind === "nameless") return [{ kind: "nameless" } as const];
  const theirs = registrations.filter((one) => isPatients(one, facts));
  if (theirs.length > 0) return theirs.map(standing);
  if (patient.kind === "all") return [{ kind: "nobody", directory: directory.path } as const];
  return [{ kind: "none", name: patient.name, directory: directory.path } as const];
}

/** Sockets that are not the patient's, and what would keep kubelet from talking to them. */
export function others(facts: Facts) {
  const rest = facts.registrations.filter((one) => !isPatients(one, facts));
  const bad = rest.map(obstacle).filter((one) => one !== undefined);
  const names = rest.flatMap(({ info }) => (info.kind === "answered" ? [info.value.name] : []));
  return names.length > 0 ? [...bad, { kind: "answering", names } as const] : bad;
}

function obstacle(one: RegistrationFacts) {
  const now = standing(one);
  switch (now.kind) {
    case "dead":
    case "silent":
    case "failing":
    case "blocked":
    case "unreachable":
      return now;
  }
  if (one.info.kind !== "answered") return undefined;
  const { type } = one.info.value;
  const known: readonly string[] = behaviourOf("1.36").pluginTypes;
  return known.includes(type) ? undefined : ({ kind: "unknown-type", path: one.socket.path, type } as const);
}

/** Where the drivers are said to be. */
export function endpoints(facts: Facts) {
  const { directory, target } = facts;
  return living(facts).map(({ info, isPatients, endpoint }) => {
    const about = { name: info.name, endpoint: info.endpoint, isPatients };
    const told = target.kubeletRegistrationPath;
    if (endpoint === undefined) return { kind: "no-path", ...about } as const;
    if (isPatients && told !== undefined && told !== info.endpoint)
      return { kind: "differs", told, ...about } as const;
    const { socket, identity } = endpoint;
    if (socket.kind === "missing" && !socket.folderInSight && !isInSight(socket.path, directory))
      return { kind: "out-of-sight", ...about } as const;
    if (socket.kind !== "accepting") return { kind: "unusable", why: socketText(socket), ...about } as const;
    if (identity.kind !== "answered") return { kind: "no-driver", ...about } as const;
    if (identity.value.name !== info.name)
      return { kind: "other-driver", other: identity.value.name, ...about } as const;
    return { kind: "right", ...about } as const;
  });
}

/** What kubelet makes of the versions. */
export function versions(facts: Facts) {
  return living(facts).map(({ info: { name, supportedVersions }, isPatients }) => {
    try {
      validateVersions("ValidatePlugin", name, supportedVersions, undefined);
      return { kind: isPatients ? "accepted" : "of-others", name, versions: supportedVersions } as const;
    } catch (error) {
      return { kind: "refused", name, isPatients, why: messageOf(error) } as const;
    }
  });
}

/** How many sockets are alive for each driver. */
export function duplicates(facts: Facts) {
  const byName = new Map<string, Living[]>();
  for (const one of living(facts)) byName.set(one.info.name, [...(byName.get(one.info.name) ?? []), one]);
  return [...byName].map(([name, ones]) => {
    const about = { name, isPatients: ones.some((one) => one.isPatients) };
    if (ones.length === 1) return { kind: "one", ...about } as const;
    return { kind: "several", paths: ones.map(({ path }) => path), ...about } as const;
  });
}

/** CSI drivers that answered. */
function living(facts: Facts): readonly Living[] {
  return facts.registrations.flatMap((one) =>
    one.info.kind === "answered" && one.info.value.type === "CSIPlugin"
      ? [
          {
            path: one.socket.path,
            info: one.info.value,
            endpoint: one.endpoint,
            isPatients: isPatients(one, facts),
          },
        ]
      : [],
  );
}

function isPatients({ socket, info }: RegistrationFacts, facts: Facts): boolean {
  const patient = patientOf(facts);
  const answered = info.kind === "answered" ? info.value : undefined;
  if (patient.kind === "all") return answered?.type === "CSIPlugin";
  if (patient.kind === "nameless") return false;
  const itsFile = basename(registrationSocketPath("/", patient.name));
  return answered ? answered.name === patient.name : basename(socket.path) === itsFile;
}

/** How one socket stands with kubelet. */
function standing({ socket, info, state }: RegistrationFacts) {
  const { path } = socket;
  if (socket.kind === "not-a-socket") return { kind: "blocked", path, fileType: socket.fileType } as const;
  if (socket.kind === "not-accepting" && socket.errno === "ECONNREFUSED")
    return { kind: "dead", path } as const;
  if (socket.kind !== "accepting") return { kind: "unreachable", path, why: socketText(socket) } as const;
  if (info.kind !== "answered") {
    if (info.kind === "not-asked" || info.code === "DeadlineExceeded")
      return { kind: "silent", path } as const;
    return { kind: "failing", path, code: info.code, message: info.message } as const;
  }
  const { name } = info.value;
  switch (state) {
    case undefined:
      return { kind: "untold", path, name } as const;
    case "registered":
    case "refused":
      return { kind: state, path, name } as const;
    case "listening":
      return { kind: "not-called", path, name, directory: dirname(path) } as const;
    default:
      return { kind: "on-its-way", path, name, state } as const;
  }
}

/**
 * Whether a missing path is missing indeed: it belongs to the same kubelet's root as the directory, and that root is
 * seen as a whole. A directory that is mounted by itself shows nothing of what is beside it.
 */
function isInSight(path: string, directory: Facts["directory"]): boolean {
  const root = dirname(directory.path);
  const isAlone =
    directory.kind !== "folder" || directory.place === undefined || directory.place.isMountPoint;
  return !isAlone && root !== "/" && isWithin(path, root);
}

/** What is wrong with a socket, for a sentence that names its path. */
export function socketText(socket: Exclude<SocketFacts, { readonly kind: "accepting" }>): string {
  switch (socket.kind) {
    case "not-accepting":
      return socket.explanation;
    case "missing":
      return "it is not there";
    case "not-a-socket":
      return `it is ${socket.fileType}, not a socket`;
    case "out-of-reach":
      return socket.errno;
    case "too-long":
      return `it has ${socket.bytes} bytes, more than a unix socket path may have`;
  }
}
