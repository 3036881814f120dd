import { list, type Tree, text, tree } from "../../../../kube-api/objects";
import { plainPath } from "../../../../unix/mounts";
import { isTemplate } from "../../../recognise/rule";
import { type Flaw, listFrom, type SeenList } from "../../findings/seen";
import { environmentOf, wordsOf } from "./arguments";
import { unread } from "./filled";
import {
  isSamePlace,
  type MountedDirectory,
  mountOf,
  mountsOf,
  policyOf,
  type VolumePath,
  writtenPlaceOf,
} from "./pod";

/** The flags that drivers have for it; it may also stand in a shell's command line. */
const ENDPOINT =
  /(?:^|\s)--?(endpoint|csi[-_](?:endpoint|socket|addr))(?:=|\s+)["']?((?:\{\{.*?\}\}|[^\s"'])+)/g;

const VARIABLE = "CSI_ENDPOINT";

/**
 * The socket that one of these containers tells, or several as the same one; it lacks what is not filled in, or not seen here.
 * Undefined: several, or which registrar's it is.
 */
export function driverSocketOf(
  containers: readonly Tree[],
  pod: Tree,
  inits: readonly Tree[],
  hasOneRegistrar: boolean,
): SeenList<DriverSocket> | undefined {
  const sockets = containers.flatMap((container) => {
    const mounts = mountsOf(container, pod);
    return endpointsOf(container).flatMap((endpoint) => {
      const path = pathOf(endpoint) ?? (isTemplate(endpoint) ? endpoint : undefined);
      if (path === undefined) return [];
      const place = writtenPlaceOf(path, mounts);
      // The endpoint of something else: a page, for example.
      if (place === undefined && /^\/.*(?<!\.sock)$/s.test(endpoint)) return [];
      const decisive = [path, place?.path ?? "", ...mounts.map(({ mountPath }) => mountPath)];
      const open = [...decisive, policyOf(container, inits)].find(isTemplate);
      const name = text(container.name);
      const hasOther = mayGetEndpoint(container);
      return [
        { open, hasOther, name, socket: { container: name, path, place, mount: mountOf(path, mounts) } },
      ];
    });
  });
  const lacking = (found: readonly DriverSocket[], name: string, at: string, flaw: Flaw = "placeholder") =>
    listFrom(found).with(listFrom<DriverSocket>(unread(flaw, at, ofContainer(name))));
  const [first] = sockets;
  const untold = containers.find((one) => mayGetEndpoint(one) && !isSidecar(one));
  if (!hasOneRegistrar && (first ?? untold) !== undefined) return undefined;
  for (const { open, name } of sockets) if (open !== undefined) return lacking([], name, open);
  if (first === undefined && untold !== undefined)
    return lacking([], text(untold.name), sourcesOf(untold).join(" or "), "elsewhere");
  if (first === undefined) return listFrom<DriverSocket>([]);
  if (sockets.some(({ socket }) => !isSamePlace(socket.place, first.socket.place))) return undefined;
  return first.hasOther ? lacking([first.socket], first.name, `$(${VARIABLE})`) : listFrom([first.socket]);
}

/** The subject of such a gap. */
export const ofContainer = (name: string) => `container ${name}`;

export interface DriverSocket {
  readonly container: string;
  readonly path: string;
  /** Undefined: on no volume. */
  readonly place: VolumePath | undefined;
  readonly mount: MountedDirectory | undefined;
}

/** What may be the address of CSI: of each flag the last value, and the variable. Which one counts, only the driver knows. */
function endpointsOf(container: Tree): readonly string[] {
  const flags = new Map<string, string>();
  for (const [, name = "", value = ""] of wordsOf(container).join(" ").matchAll(ENDPOINT))
    flags.set(name, value);
  const names = list(container.env).map((one) => text(tree(one).name));
  const variables = names.includes(VARIABLE)
    ? [environmentOf(container)(`$(${VARIABLE})`).text]
    : names.filter((name) => flags.size === 0 && isTemplate(name));
  return [...flags.values(), ...variables];
}

/** Its address may come with the other variables of a ConfigMap or Secret. */
const mayGetEndpoint = (container: Tree): boolean =>
  list(container.env).every((one) => text(tree(one).name) !== VARIABLE) && sourcesOf(container).length > 0;
const sourcesOf = ({ envFrom }: Tree): readonly string[] =>
  list(envFrom)
    .map(tree)
    .filter(({ prefix }) => VARIABLE.startsWith(text(prefix)))
    .map(
      ({ secretRef, configMapRef }) =>
        `${secretRef ? "Secret" : "ConfigMap"} ${text(tree(secretRef ?? configMapRef).name)}`,
    );

/** Drivers take `unix://csi/csi.sock` for an absolute path, too. */
function pathOf(address: string): string | undefined {
  const [, path] = /^(?:unix:\/*|(?=\/|\$))(.+)$/s.exec(address) ?? [];
  return path && `/${path.replace(/^\/+/, "")}`;
}

const isSidecar = (container: Tree): boolean => /--?csi-address\b/.test(wordsOf(container).join(" "));

/**
 * Other containers with the volume of `--csi-address`, but no sidecars, which would have that flag; the registrar's
 * `socket` as each of them sees it, and whether an argument names it.
 */
export function mayBeDrivers(
  registrar: Tree,
  pod: Tree,
  csiAddress: string,
  mounts: readonly MountedDirectory[],
) {
  const { volume, mountPath = "" } = mountOf(csiAddress, mounts) ?? {};
  const place = writtenPlaceOf(csiAddress, mounts);
  const others = list(pod.containers).map(tree);
  return others.flatMap((one) => {
    if (one.name === registrar.name || isSidecar(one)) return [];
    const own = mountsOf(one, pod);
    const shared = own.filter((mount) => mount.volume === volume);
    const paths = shared.map((mount) =>
      plainPath(`${mount.mountPath}/${csiAddress.slice(mountPath.length)}`),
    );
    const sockets = paths.filter((path) => isSamePlace(writtenPlaceOf(path, own), place));
    const words = wordsOf(one).flatMap((word) => word.split(/[\s=:"']+/).map(plainPath));
    const [socket, isNamed] = [listFrom(sockets), words.some((word) => sockets.includes(word))];
    return shared.length === 0 ? [] : { name: text(one.name), socket, isNamed };
  });
}
