import { invalidOption } from "../../base/errors";
import { NODE_NAME_VARIABLES } from "../../node-readiness/node-name";
import { list, type Tree, text, tree } from "../rules/objects";
import {
  type Deployment,
  type ManifestFacts,
  type MountedFolder,
  type ReadObject,
  type ReadSettings,
  type RegistrarSettings,
  type Unread,
  unreadAt,
} from "./deployment";
import { nodeRulesOf } from "./node-rules";
import { probesOf } from "./read-probes";
import { environmentOf, isRegistrar, literalsIn, noTextsOf, officialImage, startOf } from "./read-program";

interface Limits {
  readonly values: number;
  readonly textLength: number;
}

/** Lists of a large cluster have some 100,000 values. */
const OF_LIST: Limits = { values: 1_000_000, textLength: Number.POSITIVE_INFINITY };
/** Pods have some hundreds, and Linux starts no program with a longer argument or variable (MAX_ARG_STRLEN). */
const OF_POD: Limits = { values: 10_000, textLength: 2 ** 17 };

/**
 * Finds every container with a registrar, ours or the official one, in whatever holds pods. An object that cannot be judged
 * does not stop the others.
 */
export function readDeployments(objects: readonly ReadObject[], settingsOf: ReadSettings): ManifestFacts {
  const deployments: Deployment[] = [];
  const forWindows: Deployment[] = [];
  const csiDrivers: string[] = [];
  const unread: Unread[] = [];
  const read = (place: string, act: () => void) => {
    try {
      act();
    } catch (error) {
      unread.push(unreadAt(place, error));
    }
  };
  for (const { file, object: root } of objects) {
    const at = file === undefined ? "" : `${file}: `;
    read(file ?? "the list", () => {
      refuseHuge(root, OF_LIST);
      for (const object of unfold(root)) {
        const owner = `${at}${nameOf(object)}`;
        read(owner, () => {
          (isForWindows(object) ? forWindows : deployments).push(...deploymentsIn(owner, object, settingsOf));
          if (object.kind === "CSIDriver") csiDrivers.push(text(tree(object.metadata).name));
        });
      }
    });
  }
  return { deployments, forWindows, csiDrivers, unread };
}

/** A List is its items. */
function unfold(object: unknown): readonly Tree[] {
  const one = tree(object);
  return Array.isArray(one.items) && /List$/.test(text(one.kind)) ? one.items.flatMap(unfold) : [one];
}

/** `DaemonSet kube-system/csi-x-node`. */
function nameOf({ kind, metadata }: Tree): string {
  const { name, namespace } = tree(metadata);
  return `${text(kind)} ${[namespace, name]
    .filter((part) => part !== undefined)
    .map(text)
    .join("/")}`;
}

/** Throws INVALID_OPTION for a value that would take too long to judge, and for one that holds itself. */
function refuseHuge(root: unknown, { values, textLength }: Limits): void {
  const open = [root];
  for (let seen = 1; open.length > 0; ) {
    const value = open.pop();
    if (typeof value === "string" && value.length > textLength)
      throw invalidOption(`it has a text of ${value.length} characters`);
    const parts = typeof value === "object" && value !== null ? Object.values(value) : [];
    seen += parts.length;
    if (seen > values)
      throw invalidOption(`it has more than ${values.toLocaleString("en")} values, or holds itself`);
    for (const part of parts) open.push(part);
  }
}

function deploymentsIn(owner: string, object: Tree, settingsOf: ReadSettings): readonly Deployment[] {
  const spec = tree(object.spec);
  const pod = podOf(object);
  const containers = [...list(pod.containers), ...list(pod.initContainers)].map(tree);
  const registrars = containers.filter(isRegistrar);
  if (registrars.length > 0) refuseHuge(pod, OF_POD);
  return registrars.map((container) => {
    const [ofPod, ofContainer] = [tree(pod.securityContext), tree(container.securityContext)];
    const security = { ...ofPod, ...ofContainer };
    const limits = tree(tree(container.resources).limits);
    const official = officialImage(text(container.image));
    const start = startOf(container);
    const settings = settingsOf(start.args, official);
    const preStop = tree(tree(tree(container.lifecycle).preStop).exec).command;
    return {
      place: `${owner}, container ${text(container.name)}`,
      objectKind: text(object.kind),
      container: text(container.name),
      isOfficial: official !== undefined,
      unseen: unseenOf(start, settings),
      settings,
      noTexts: noTextsOf(container),
      literals: literalsIn([settings.csiAddress, settings.kubeletRegistrationPath], start.open, container),
      mayKnowNodeName: mayKnowNodeName(container),
      mounts: mountsOf(container, pod),
      probes: probesOf(container, (words) => settingsOf(words, official)),
      memoryLimit: limitOf(limits.memory),
      preStop: Array.isArray(preStop) ? preStop.map(text) : undefined,
      runAsUser: typeof security.runAsUser === "number" ? security.runAsUser : undefined,
      runAsNonRoot:
        security.runAsNonRoot !== true ? undefined : ofPod.runAsNonRoot === true ? "pod" : "container",
      hostNetwork: pod.hostNetwork === true,
      nodes: nodeRulesOf(pod),
      maxSurge: surgeOf(spec),
      hasDriver: containers.length > registrars.length,
    };
  });
}

/** What is filled in elsewhere does not matter where it is no path, and could be right. */
function unseenOf({ startedBy, open }: ReturnType<typeof startOf>, settings: RegistrarSettings) {
  if (startedBy !== undefined)
    return {
      why: `is started by ${startedBy}: what that makes of the arguments is not seen here`,
      advice: "have the registrar itself as command, or none",
    };
  const { csiAddress, kubeletRegistrationPath, pluginRegistrationPath, refusal } = settings;
  const judged = [csiAddress, kubeletRegistrationPath, pluginRegistrationPath, refusal?.problem ?? ""];
  const found = open.find(
    ({ name, isElsewhere }) => isElsewhere && judged.some((value) => value.includes(`$(${name})`)),
  );
  if (found === undefined) return undefined;
  return {
    why: `takes $(${found.name}) from elsewhere: what the arguments come to is not seen here`,
    advice: "run registrar doctor in the pod, or see the log of its start",
  };
}

/** As its pods say, or the nodes that they are for. */
function isForWindows(object: Tree): boolean {
  const { os, nodeSelector } = podOf(object);
  const labels = tree(nodeSelector);
  return [tree(os).name, labels["kubernetes.io/os"], labels["beta.kubernetes.io/os"]].includes("windows");
}

function podOf({ kind, spec }: Tree): Tree {
  return kind === "Pod" ? tree(spec) : tree(tree(tree(spec).template).spec);
}

function mayKnowNodeName(container: Tree): boolean {
  const variables = list(container.env).map(tree);
  return (
    list(container.envFrom).length > 0 ||
    variables.some(
      ({ name, value, valueFrom }) =>
        NODE_NAME_VARIABLES.includes(text(name)) && (valueFrom !== undefined || text(value) !== ""),
    )
  );
}

function mountsOf(container: Tree, pod: Tree): readonly MountedFolder[] {
  const fill = environmentOf(container);
  const volumes = new Map(list(pod.volumes).map((volume) => [text(tree(volume).name), tree(volume)]));
  return list(container.volumeMounts)
    .map(tree)
    .map((mount) => {
      const volume = volumes.get(text(mount.name));
      const hostPath = tree(volume?.hostPath);
      const subPath = text(mount.subPath) || fill(text(mount.subPathExpr)).text;
      return {
        mountPath: plainPath(text(mount.mountPath)),
        readOnly: mount.readOnly === true,
        volume: text(mount.name),
        hostPath: hostPath.path === undefined ? undefined : plainPath(`${text(hostPath.path)}/${subPath}`),
        volumeKind: Object.keys(volume ?? {}).find((key) => key !== "name"),
        hostPathType: hostPath.type === undefined ? undefined : text(hostPath.type),
      };
    });
}

function surgeOf(spec: Tree): number | string | undefined {
  const { maxSurge } = tree(tree(spec.updateStrategy).rollingUpdate);
  return typeof maxSurge === "number" || typeof maxSurge === "string" ? maxSurge : undefined;
}

function limitOf(memory: unknown): Deployment["memoryLimit"] {
  const bytes = bytesOf(text(memory));
  return bytes === undefined ? undefined : { bytes, text: text(memory) };
}

/** A Kubernetes quantity in bytes; undefined if it is invalid. */
function bytesOf(quantity: string): number | undefined {
  const [, digits, unit = ""] = /^([\d.]+)([EPTGMK]i?|k|m)?$/.exec(quantity) ?? [];
  if (digits === undefined) return undefined;
  const power = "KMGTPE".indexOf(unit[0]?.toUpperCase() ?? "?") + 1;
  if (unit === "m") return Number(digits) / 1000;
  return Number(digits) * (unit.endsWith("i") ? 1024 : 1000) ** power;
}

function plainPath(path: string): string {
  return path.replace(/\/{2,}/g, "/").replace(/(?<=[^/])\/$/, "");
}
