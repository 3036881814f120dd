import { bool, list, nameOf, text, tree } from "../../../../kube-api/objects";
import { registrarsIn } from "../../files/read/registrars";
import { grouped } from "../../findings/finding";
import type { SeenList } from "../../findings/seen";
import { each, type Reader } from "./reader";
import type { RegistrarSet } from "./set";

/** A driver that a node needs, and that no DaemonSet is known to register. */
export interface Unprovided {
  readonly driver: string;
  readonly node: string;
}

/** Of so many drivers. */
const MOST = 5;

export type Owner = NonNullable<ReturnType<typeof readOwner>>;

/**
 * The pods that have the socket's directory of such a driver, on one of its nodes: static ones, those of other controllers.
 * Undefined for a driver that was not looked for.
 */
export async function readOwners({ read }: Reader, unprovided: readonly Unprovided[]) {
  const drivers = [...grouped(unprovided, ({ driver }) => driver).values()].slice(0, MOST);
  const lists = await Promise.all(
    drivers.map(([{ driver, node }]) =>
      read(
        "pods",
        each((pod) => readOwner(pod, driver)),
        { fieldSelector: `spec.nodeName=${node}` },
      ),
    ),
  );
  const ownersOf = new Map(drivers.map(([{ driver }], at) => [driver, lists[at]]));
  return (driver: string): SeenList<Owner> | undefined => ownersOf.get(driver);
}

/** Only a node plugin has its socket on the host, in a directory of its driver's name. */
function readOwner(object: unknown, driver: string) {
  const { metadata, spec } = tree(object);
  const paths = list(tree(spec).volumes).map((volume) => text(tree(tree(volume).hostPath).path));
  if (!paths.some((path) => path.split("/").includes(driver))) return undefined;
  const owner = list(tree(metadata).ownerReferences)
    .map(tree)
    .find(({ controller }) => bool(controller));
  const name = nameOf(object);
  const [registrar] = registrarsIn({ object: -1, name }, { ...tree(object), kind: "Pod" });
  return {
    driver,
    pod: name,
    /** Its controller; of a static pod the Node. */
    owner: owner && { kind: text(owner.kind), name: text(owner.name) },
    registrar: registrar?.container,
  };
}

/** The pods on a node that may register drivers, except those of the DaemonSets that are known for it. */
export function readRivals({ read }: Reader, node: string, sets: SeenList<RegistrarSet>) {
  const known = new Set(sets.each(({ uid }) => uid));
  const readRival = (object: unknown) => {
    const { metadata, spec, status } = tree(object);
    const owners = list(tree(metadata).ownerReferences).map((one) => text(tree(one).uid));
    const hasEnded = ["Failed", "Succeeded"].includes(text(tree(status).phase));
    const paths = list(tree(spec).volumes).map((volume) => text(tree(tree(volume).hostPath).path));
    if (hasEnded || paths.every((path) => path === "") || owners.some((uid) => known.has(uid)))
      return undefined;
    const name = nameOf(object);
    const registrars = registrarsIn({ object: -1, name }, { ...tree(object), kind: "Pod" });
    // A driver may register itself, without such a container.
    return registrars.length > 0 || paths.some((path) => MAY_REGISTER.test(path)) ? name : undefined;
  };
  return read("pods", each(readRival), { fieldSelector: `spec.nodeName=${node}` });
}

/** Kubelet's root directory, or the one for registration sockets in it. */
const MAY_REGISTER = /\/(?:kubelet|plugins_registry)\/*$/;
