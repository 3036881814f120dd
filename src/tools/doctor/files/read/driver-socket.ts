import { list, type Tree, text, tree } from "../../../../kube-api/objects";
import { isWithin, plainPath } from "../../../../unix/mounts";
import { isOtherSidecar, lastPart } from "../../../recognise/image";
import { isTemplate } from "../../../recognise/rule";
import { type Name, tell } from "../../findings/opened";
import {
  beyond,
  type Flaw,
  type Gap,
  listFrom,
  looked,
  type Seen,
  type SeenList,
  type Truth,
  truth,
} from "../../findings/seen";
import { ofContainer } from "../../findings/words";
import { UNKNOWN, wordsOf } from "./arguments";
import { environmentOf } from "./environment";
import { filledOf, nameFrom, unread } from "./filled";
import {
  isSameName,
  isSamePlace,
  type MountedDirectory,
  mountOf,
  mountsOf,
  onHosts,
  policyOf,
  type VolumePath,
  writtenPlaceOf,
} from "./pod";

/** The flags that drivers have for it; it may also stand in a shell's command line. */
const ENDPOINT =
  /(?:^|\s)--?(endpoint|csi[-_](?:endpoint|socket|addr))(?:=|\s+)["']?((?:\{\{.*?\}\}|[^\s"'])+)/g;

const VARIABLE = "CSI_ENDPOINT";

/** What an installer fills in, and may be any argument. */
const PLACEHOLDER_FIRST = /^(?:\{\{|\$\{|<|@)/;
const openWordsOf = (container: Tree) =>
  wordsOf(container).filter((word) => PLACEHOLDER_FIRST.test(word) && isTemplate(word));

/**
 * The socket that one of these containers tells, or several as the same one; it lacks what is not filled in, or not seen here. By
 * flags, files or defaults that doctor does not know, a driver makes its socket also where none tells it.
 */
export function driverSocketOf(
  containers: readonly Tree[],
  pod: Tree,
  inits: readonly Tree[],
  hasOneRegistrar: boolean,
): Seen<Told> {
  const drivers = containers.filter((one) => !hasOtherImage(one));
  const sockets = drivers.flatMap((container) => {
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
        {
          open,
          hasOther,
          name,
          socket: { container: nameFrom(name), path, place, mount: mountOf(path, mounts) },
        },
      ];
    });
  });
  const lacks = (name: string, at: string, flaw: Flaw = "placeholder") => unread(flaw, at, ofContainer(name));
  const [first] = sockets;
  const others = drivers.filter((one) => !isSidecar(one));
  const untold = others.find(mayGetEndpoint);
  if (!hasOneRegistrar && (first ?? untold) !== undefined) return looked(UNCLEAR);
  const mayTell = others.flatMap((one) => openWordsOf(one).map((open) => ({ name: text(one.name), open })));
  const unfilled = [...sockets, ...mayTell].find(({ open }) => open !== undefined);
  if (unfilled?.open !== undefined) return looked(lacks(unfilled.name, unfilled.open), UNCLEAR);
  if (first === undefined && untold !== undefined)
    return looked(lacks(text(untold.name), sourcesOf(untold).join(" or "), "elsewhere"), UNCLEAR);
  if (first === undefined) return looked<Told>({ told: "none" });
  if (sockets.some(({ socket }) => !isSamePlace(socket.place, first.socket.place))) return looked(UNCLEAR);
  const another = listFrom<DriverSocket>(first.hasOther ? lacks(first.name, `$(${VARIABLE})`) : []);
  return looked<Told>({ told: "one", socket: listFrom([first.socket]).with(another) });
}
type Told =
  | { readonly told: "none" | "unclear" }
  | { readonly told: "one"; readonly socket: SeenList<DriverSocket> };
const UNCLEAR: Told = { told: "unclear" };
export const isOfContainer = (gap: Gap, name: Name) => gap.subject === ofContainer(tell<string>(name));

export interface DriverSocket {
  readonly container: Name;
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

/** One that may have the socket is taken for the driver; whether another one is it, unless it is a sidecar, is not known. */
export function hasDriverIn(drivers: SeenList<unknown>, others: readonly Tree[], isUnsure: boolean): Truth {
  const mayHave = isUnsure || others.some((one) => !isSidecar(one));
  return drivers
    .contains()
    .or(truth(mayHave && UNKNOWN.gap))
    .and(mayHave);
}

/** The rest of a path of the host in a mount of it, or of a path that is not filled in. Undefined: it is not there. */
function behindHost(place: VolumePath | undefined, { written }: MountedDirectory): string | undefined {
  const host = tell<string | undefined>(written);
  if (host === undefined || place === undefined || place.volume !== undefined) return undefined;
  if ([host, place.path].some(isTemplate)) return "";
  return isWithin(place.path, onHosts(host)) ? place.path.slice(onHosts(host).length) : undefined;
}

const isSidecar = (container: Tree): boolean =>
  hasOtherImage(container) || /--?csi-address\b/.test(wordsOf(container).join(" "));
const hasOtherImage = ({ image }: Tree): boolean => isOtherSidecar(lastPart(text(image)));

/**
 * The other containers with the volume of `--csi-address`, except sidecars, which have that flag; the registrar's `socket` as each of
 * them sees it, and whether an argument names it.
 */
export function mayBeDrivers(
  others: readonly Tree[],
  pod: Tree,
  csiAddress: string,
  mounts: readonly MountedDirectory[],
  inits: readonly Tree[],
  /** Those that start before the registrar. */
  earlier: readonly Tree[],
) {
  const { volume, mountPath = "" } = mountOf(csiAddress, mounts) ?? {};
  const place = writtenPlaceOf(csiAddress, mounts);
  return listFrom(others).flatMap((one) => {
    if (isSidecar(one)) return [];
    const own = mountsOf(one, pod);
    const paths = own.flatMap((mount) => {
      const isShared = isSameName(mount.volume, volume);
      const rest = isShared ? csiAddress.slice(mountPath.length) : behindHost(place, mount);
      return rest === undefined ? [] : plainPath(`${mount.mountPath}/${rest}`);
    });
    if (paths.length === 0) return [];
    // A sidecar may have its flag there, and an init container may end.
    const open = [policyOf(one, inits), ...openWordsOf(one)].find(isTemplate);
    if (open !== undefined) return listFrom<never>(unread("placeholder", open, ofContainer(text(one.name))));
    const sockets = paths.filter((path) => isSamePlace(writtenPlaceOf(path, own), place));
    const wordsIn = (word: string) => word.split(/[\s=:"']+/).map(plainPath);
    const isNaming = (word: string) => wordsIn(word).some((its) => sockets.includes(its));
    const isOpen = [...sockets, ...wordsOf(one)].some(isTemplate);
    const isNamed = () => truth(wordsOf(one).some(isNaming) || (isOpen && beyond("files")));
    return {
      ...{ name: nameFrom(text(one.name)), socket: filledOf(sockets) },
      ...{ isNamed, isEarlier: earlier.includes(one) },
    };
  });
}
