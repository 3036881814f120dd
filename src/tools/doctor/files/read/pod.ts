import {
  bool,
  isMap,
  list,
  nameOf,
  needed,
  type Tree,
  text,
  textOrNone,
  textOrNumber,
  tree,
} from "../../../../kube-api/objects";
import { isWithin, plainPath } from "../../../../unix/mounts";
import { isTemplate } from "../../../recognise/rule";
import { type Name, tell } from "../../findings/opened";
import { beyond, listFrom, looked, refuseFlaw, toldOf, type Unread } from "../../findings/seen";
import { environmentOf } from "./environment";
import { allFilled, filled, nameFrom, numberOrOpen, unread } from "./filled";
import { identityOf } from "./identity";

export type MountedDirectory = ReturnType<typeof mountsOf>[number];

/** The mounts of a container, the innermost of a path before the others. */
export function mountsOf(container: Tree, pod: Tree) {
  const fill = environmentOf(container);
  const volumes = new Map(list(pod.volumes).map((volume) => [text(tree(volume).name), tree(volume)]));
  return list(container.volumeMounts)
    .map(tree)
    .filter(hasPath)
    .map((mount) => {
      const volume = volumes.get(text(mount.name));
      const open = [text(mount.name), ...volumes.keys()].find(isTemplate);
      if (volume === undefined && open !== undefined) refuseFlaw("placeholder", open);
      const { path, type } = tree(volume?.hostPath);
      const subPath = text(mount.subPath) || fill(text(mount.subPathExpr)).text;
      const hostPath = textOrNone(path) && plainPath(`${text(path)}/${subPath}`);
      return {
        // Kubelet begins a path without a / with one.
        mountPath: plainPath(text(mount.mountPath).replace(/^(?=[\w.])/, "/")),
        isReadOnly: bool(mount.readOnly),
        volume: nameFrom(text(mount.name)),
        subPath: toldOf(subPath),
        /** The host's directory; undefined for other volumes than a hostPath, and for one without a path. */
        hostPath: filled(hostPath ?? "", "", hostPath),
        written: toldOf(hostPath),
        /** What kubelet requires the hostPath to be; empty: anything. */
        type: filled(text(type)),
        /** `hostPath`, `emptyDir` (the default), ...; undefined: the pod has no such volume. */
        volumeKind: volume && (Object.keys(volume).find((key) => key !== "name") ?? "emptyDir"),
      };
    })
    .sort((one, other) => other.mountPath.length - one.mountPath.length);
}

export const containersIn = (pod: Tree): readonly Tree[] =>
  [...list(pod.containers), ...list(pod.initContainers)].map(tree);

const hasPath = ({ mountPath }: Tree): boolean => text(mountPath) !== "";

/**
 * What the API server refuses: a volume that is mounted nowhere, paths with a `..`, what must be unique and is not, and volumes of
 * any container that the pod does not have, except those of `apart`, which other checks judge. `where`: whose they are.
 */
export function refusedIn(
  { volumeMounts }: Tree,
  pod: Tree,
  apart: readonly (string | undefined)[],
  where: string,
) {
  const [mounts, volumes] = [list(volumeMounts).map(tree), list(pod.volumes).map(tree)];
  const paths = [...volumes.map(({ hostPath }) => tree(hostPath).path), ...mounts.map((one) => one.subPath)];
  const [written, names] = [paths.map(text), volumes.map(({ name }) => text(name))];
  const mounted = containersIn(pod).flatMap((one) => list(one.volumeMounts).map(tree).filter(hasPath));
  const isAbsent = (name: string) => ![...names, ...apart].includes(name) && !isTemplate(name);
  const absent = names.some(isTemplate)
    ? []
    : [...new Set(mounted.map(({ name }) => text(name)).filter(isAbsent))];
  const hostless = list(pod.volumes).filter((one) => isMap(one) && one.hostPath === null);
  const backsteps = written.filter((path) => path.split("/").includes(".."));
  return {
    pathless: listFrom(mounts.flatMap((mount) => (hasPath(mount) ? [] : text(mount.name)))),
    backsteps: allFilled(backsteps, written, `${where}, a path`),
    mountedTwice: listFrom(repeatedIn(mounts.filter(hasPath).map(({ mountPath }) => text(mountPath)))),
    namedTwice: allFilled(repeatedIn(names), names, `${where}, a volume`),
    absent: allFilled(absent, names, `${where}, a volume`),
    hostless: listFrom(hostless.map((one) => text(tree(one).name)).filter((name) => !apart.includes(name))),
  };
}

const repeatedIn = (words: readonly string[]): readonly string[] => [
  ...new Set(words.filter((word, at) => words.indexOf(word) < at)),
];

/** The innermost mount that holds a path of the container. */
export const mountOf = (path: string, mounts: readonly MountedDirectory[]): MountedDirectory | undefined =>
  mounts.find(({ mountPath }) => isWithin(path, mountPath));

/** A path of the container as the host has it; undefined: not there. */
export function onHost(path: string, mounts: readonly MountedDirectory[]) {
  const host = writtenOnHost(path, mounts);
  return filled(host ?? "", "", host);
}
export function writtenOnHost(path: string, mounts: readonly MountedDirectory[]): string | undefined {
  const mount = mountOf(path, mounts);
  const host = mount && tell<string | undefined>(mount.written);
  if (host === undefined) return undefined;
  const rest = mount?.mountPath === "/" ? path : path.slice(mount?.mountPath.length);
  return `${host === "/" ? "" : host}${rest}`;
}

/** Where a path of a container is: on the host, or in another volume of the pod. */
export interface VolumePath {
  /** Undefined: the path is the host's. */
  readonly volume: Name | undefined;
  readonly path: string;
}

/** Of one pod, where each container and volume has a name of its own. */
export const isSameName = (...both: readonly [Name | undefined, Name | undefined]): boolean => {
  const [one, other] = both.map(tell<string | undefined>);
  return one === other;
};

export const isSamePlace = (one: VolumePath | undefined, other: VolumePath | undefined): boolean =>
  isSameName(one?.volume, other?.volume) && one?.path === other?.path;

/** A path of the host, where `/var/run` is a link to `/run`. */
export const onHosts = (path: string): string => plainPath(path).replace(/^\/var\/run\//, "/run/");

/** Undefined for a path on no volume of the pod. */
export function placeOf(path: string, mounts: readonly MountedDirectory[]) {
  const place = writtenPlaceOf(path, mounts);
  return filled(place?.path ?? "", "", place);
}
export function writtenPlaceOf(path: string, mounts: readonly MountedDirectory[]): VolumePath | undefined {
  const mount = mountOf(path, mounts);
  if (mount?.volumeKind === undefined) return undefined;
  const host = writtenOnHost(path, mounts);
  if (host !== undefined) return { volume: undefined, path: onHosts(host) };
  return { volume: mount.volume, path: `${tell(mount.subPath)}${path.slice(mount.mountPath.length)}` };
}

/** Until when a container runs: an init container with another policy ends before the others start. */
export const policyOf = (container: Tree, inits: readonly Tree[]): string =>
  inits.includes(container) ? text(container.restartPolicy) : ALWAYS;
const ALWAYS = "Always";
export const mayRunOn = (policy: string): boolean => policy === ALWAYS || isTemplate(policy);
export const runsOn = (policy: string, name: string) => filled(policy, name).is((one) => one === ALWAYS);

export const roleOf = (container: Tree, inits: readonly Tree[]) =>
  inits.includes(container)
    ? filled(text(container.restartPolicy), "", policyOf(container, inits) === ALWAYS ? "sidecar" : "init")
    : looked("container" as const);

/** Without a user it has that of its image, which nobody reads. */
export function userOf(own: Tree, ofPod: Tree) {
  const isNonRoot = bool(own.runAsNonRoot ?? ofPod.runAsNonRoot);
  const id = numberOrOpen(own.runAsUser ?? ofPod.runAsUser);
  const open: Unread = { kind: "unread", gap: beyond("files") };
  return {
    ...{ isNonRoot, hasReadOnlyRoot: bool(own.readOnlyRootFilesystem) },
    id: looked(id === "" ? open : isTemplate(id) ? unread("placeholder", id, "runAsUser") : undefined, id),
  };
}

export type LimitedResource = "memory" | "cpu";

const DECIMAL = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const BINARY = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/** A Kubernetes quantity as bytes or CPUs, by the grammar of `ParseQuantity`; undefined if it is invalid or missing. */
function quantityOf(quantity: string): number | undefined {
  const [, digits, exponent, unit = ""] =
    /^([+-]?(?:\d+(?:\.\d*)?|\.\d*)?)(?:[eE]([+-]?\d+)|([KMGTPE]i|[numkMGTPE]?))$/.exec(quantity.trim()) ??
    [];
  if (digits === undefined || quantity.trim() === "") return undefined;
  // Kubernetes reads a missing number as 0.
  const number = /\d/.test(digits) ? digits : "0";
  if (BINARY.includes(unit)) return Number(number) * 1024 ** (BINARY.indexOf(unit) + 1);
  return Number(`${number}e${exponent ?? (DECIMAL.indexOf(unit) - DECIMAL.indexOf("")) * 3}`);
}

export const amountOf = (quantity: string) => quantityOf(quantity) ?? 0;

/** A quantity as it is written, and in bytes or CPUs. One that is absent is 0, which Kubernetes takes for no limit. */
export interface Amount {
  readonly text: string;
  readonly amount: number;
}

/** `where` follows it in a text. */
function amountIn(value: unknown, where = "") {
  const written = textOrNumber(value);
  const amount = value === undefined ? 0 : quantityOf(written);
  const flaw = isTemplate(written) ? "placeholder" : "quantity";
  return looked<Amount | Unread>(
    amount === undefined ? unread(flaw, written, where) : { text: written, amount },
  );
}

const forEach = <R>(read: (resource: LimitedResource) => R) => ({ memory: read("memory"), cpu: read("cpu") });

/** The limits of a container and of its pod, and its request. */
export function limitsOf(container: Tree, pod: Tree) {
  const [own, ofPod] = [container, pod].map(({ resources }) => tree(resources));
  return forEach((resource) => ({
    own: amountIn(tree(own?.limits)[resource]),
    ofPod: amountIn(tree(ofPod?.limits)[resource], " for its pod"),
    request: amountIn(tree(own?.requests)[resource]),
  }));
}

/** The API server takes a number in quotes for another value. */
const numberIn = (value: unknown) => (typeof value === "number" ? value : textOrNumber(value));

/** How a set replaces its pods. */
export function updateOf({ spec }: Tree) {
  const { type, rollingUpdate } = tree(tree(spec).updateStrategy);
  const { maxSurge = 0, maxUnavailable = 1 } = tree(rollingUpdate);
  const amounts = [numberIn(maxSurge), numberIn(maxUnavailable)] as const;
  // With this type the controller does not read them.
  const [surge, unavailable] = text(type) === "OnDelete" ? [0, 1] : amounts;
  const isUsual = surge === 0 && unavailable === 1;
  const ofType = isTemplate(text(type)) && !isUsual ? unread("placeholder", text(type)) : undefined;
  const look = (value: string | number) =>
    looked(ofType ?? (isTemplate(`${value}`) ? unread("placeholder", `${value}`) : value));
  return { maxSurge: look(surge), maxUnavailable: look(unavailable) };
}

export type LimitRange = ReturnType<typeof readLimitRange>;

export function readLimitRange({ metadata, spec }: Tree, number?: number) {
  const items = list(tree(spec).limits).map(tree);
  for (const { type } of items)
    if (isTemplate(needed("type of a limit", textOrNone(type)))) refuseFlaw("placeholder", text(type));
  const name = nameOf({ metadata });
  const where = ` from LimitRange ${name}`;
  return {
    name: nameFrom(name, number),
    identity: identityOf({ metadata }),
    containers: items
      .filter(({ type }) => text(type) === "Container")
      .map((item) =>
        forEach((resource) => ({
          max: amountIn(tree(item.max)[resource], where),
          byDefault: amountIn(tree(item.default)[resource], where),
        })),
      ),
  };
}
