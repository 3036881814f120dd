import { list, type Tree, text, tree } from "../../../../kube-api/objects";
import { isWindowsImage } from "../../../images/program";
import { OS_LABELS, WINDOWS_BUILD, WINDOWS_LABELS } from "../../../manifest/image-policy/recognise";
import type { FoundObject } from "../../findings/finding";
import { isTemplate } from "../../findings/words";
import { driverSocketOf } from "./mounts";
import { type NodeRules, nodeRulesOf } from "./node-rules";
import { placeText } from "./objects";
import { portsOf } from "./ports";
import { environmentOf, wordsOf } from "./start";

/** What the containers of a pod share with each other and with other pods. */
export type PodFacts = ReturnType<typeof readPod>;

export function podIn(object: Tree): Tree {
  const spec = tree(object.spec);
  return object.kind === "Pod" ? spec : tree(tree(spec.template).spec);
}

/** The security context of a container: its own fields before the pod's; null is a field that is not set. */
export function securityOf(pod: Tree, container: Tree): Tree {
  const own = Object.entries(tree(container.securityContext)).filter(([, value]) => value !== null);
  return { ...tree(pod.securityContext), ...Object.fromEntries(own) };
}

/** The command of a hook, in which kubelet fills in no variables. */
export const hookOf = ({ lifecycle }: Tree, name: "preStop" | "postStart") =>
  list(tree(tree(tree(lifecycle)[name]).exec).command).map(text);

/** Throws INVALID_OPTION for variables that get too long. */
export function readPod(owner: FoundObject, object: Tree, registrars: readonly Tree[] = []) {
  const pod = podIn(object);
  const init = list(pod.initContainers).map(tree);
  // Others have ended when the containers start.
  const sidecars = init.filter(({ restartPolicy }) => restartPolicy === "Always");
  const running = [...list(pod.containers).map(tree), ...sidecars];
  const drivers = running.filter((container) => !registrars.includes(container));
  return {
    object: owner,
    /** `daemonset.yaml: DaemonSet kube-system/csi-x-node`. */
    owner: placeText(owner),
    /** The same for an object that is in two files. */
    identity: placeText({ ...owner, file: null }),
    isForWindows: running.some((container) => isForWindows(pod, container)),
    nodes: nodeRulesOf(pod),
    ports: portsOf(running, pod.hostNetwork === true),
    /** The containers beside the registrars, and the number of these. */
    drivers,
    registrars: registrars.length,
    /** What its driver is called, as far as a flag or a variable tells; none if there are several. */
    driverNames: registrars.length > 1 ? [] : driverNameIn(drivers),
    driverSocket: registrars.length > 1 ? undefined : driverSocketOf(drivers, pod),
  };
}

/** `--drivername=x`, `--driver-name x`, `--csi-name=x`; it may also stand in a shell's command line. */
const FLAG = /(?:^|\s)--?(?:(?:csi-?)?driver-?name|csi-name)(?:=|\s+)["']?([^\s"']+)/gi;
const VARIABLE = /^(?:\w+_)?DRIVER_?NAME$/;
/** A driver's name by the CSI specification; one without a dot is rather a word of something else. */
const NAME = /^(?=.{1,63}$)[a-z0-9][-a-z0-9]*(?:\.[-a-z0-9]+)+$/i;

export const MAX_NAME_LENGTH = 63;

/** The directory of a driver's socket: many drivers have their name there, others a word of their own. */
export function driverDirectoryIn(kubeletRegistrationPath: string): string | undefined {
  const directory = kubeletRegistrationPath.split(/[\\/]+/).at(-2);
  return directory && directory.length <= MAX_NAME_LENGTH && !isTemplate(directory) ? directory : undefined;
}

/** What these containers call their driver; nothing if they have several names for it. */
function driverNameIn(containers: readonly Tree[]): readonly [] | readonly [string] {
  const names = containers.flatMap((container) => {
    const fill = environmentOf(container);
    const flags = Array.from(wordsOf(container).join(" ").matchAll(FLAG), ([, value = ""]) => value);
    const variables = list(container.env)
      .map(tree)
      .filter(({ name }) => VARIABLE.test(text(name)))
      .map(({ value }) => fill(text(value)).text);
    return [...flags, ...variables].filter((name) => NAME.test(name));
  });
  const [name, ...others] = new Set(names);
  return name === undefined || others.length > 0 ? [] : [name];
}

/** `C:\csi`, `--csi-address=unix://C:\csi\csi.sock`, `livenessprobe.exe`. */
const OF_WINDOWS = /(?:^|=)(?:unix:\/*)?[a-z]:[\\/]|\.exe(?:["'\s]|$)/i;

/** Whether a container is for Windows nodes: by its pod, its image, its words or its paths. */
export function isForWindows(pod: Tree, container: Tree): boolean {
  const os = text(tree(pod.os).name);
  if (os !== "") return os === "windows";
  const { command, args, env, volumeMounts, image } = container;
  const words = [
    ...[...list(command), ...list(args)].map(text),
    ...list(env).map((one) => text(tree(one).value)),
    ...list(volumeMounts).map((one) => text(tree(one).mountPath)),
  ];
  const securities = [pod.securityContext, container.securityContext].map(tree);
  return (
    requiresWindows(nodeRulesOf(pod)) ||
    securities.some(({ windowsOptions }) => windowsOptions !== undefined) ||
    isWindowsImage(image) ||
    words.some((word) => OF_WINDOWS.test(word))
  );
}

/** Each alternative requires a label of Windows, or excludes that of Linux. */
function requiresWindows(nodes: NodeRules): boolean {
  return nodes.every((term) =>
    term.some(
      ({ key, operator, values }) =>
        (key === WINDOWS_BUILD && ["In", "Exists"].includes(operator)) ||
        (operator === "In" &&
          WINDOWS_LABELS.includes(key) &&
          values.length > 0 &&
          values.every((value) => value.startsWith("windows"))) ||
        (operator === "NotIn" && OS_LABELS.includes(key) && values.includes("linux")),
    ),
  );
}
