import { messageOf } from "../../../../base/errors";
import { registrationSocketPath } from "../../../../registrar/model/socket-name";
import { check, grouped, problem, unread, type Verdicts } from "../../findings/finding";
import { isTemplate, LEAVE_ONE, together } from "../../findings/words";
import type { Deployment, ManifestFacts } from "../read/deployments";
import { onHost } from "../read/mounts";
import { createMayMeet, type MayMeet } from "../read/node-rules";
import type { PodFacts } from "../read/pod";
import { collide, type PortUse } from "../read/ports";
import { isForLinux } from "./each-deployment";

type PortOfPod = PortUse & { readonly pod: PodFacts };

const pairs = (code: string, name: string, verdicts: (facts: ManifestFacts, mayMeet: MayMeet) => Verdicts) =>
  check<ManifestFacts>(code, name, (facts) => {
    try {
      return verdicts(facts, createMayMeet());
    } catch (error) {
      const advice = "give the files of the drivers of one node pool alone";
      return unread("the pods in these files", `cannot be compared: ${messageOf(error)}`, advice);
    }
  });

const manifestPorts = pairs("CSI109", "manifest-ports", ({ deployments, pods }, mayMeet) => {
  const uses = lastOfEach(pods)
    .filter(({ isForWindows }) => !isForWindows)
    .flatMap((pod) => pod.ports.map((use) => ({ ...use, pod })));
  const withRegistrar = new Set(deployments.map(({ pod }) => pod));
  const networkOf = ({ port, isOnNode, pod }: PortOfPod) =>
    `port ${port} of ${isOnNode ? "the node" : pod.owner}`;
  return Array.from(grouped(uses, networkOf), ([network, group]) => {
    const isOurs = ({ pod }: PortOfPod) => withRegistrar.has(pod);
    const ours = group.filter(isOurs);
    const some = named(
      group.filter((one) => (isOurs(one) ? group : ours).some((other) => excludes(one, other, mayMeet))),
    );
    if (some.length === 0) return undefined;
    const [names, all] = together(some.map(({ pod, container }) => `${pod.owner}, container ${container}`));
    const flags = some.map(({ port, flag = `containerPort: ${port}` }) => flag);
    const fix = `give each a port of its own; at present: ${flags.join(", ")}`;
    return {
      ...problem(names, `${all} serve on ${network}`, fix),
      objects: some.map(({ pod, container }) => ({ ...pod.object, container })),
    };
  });
});

/** An object that is given twice is one object to the API server: the last one counts. */
function lastOfEach(pods: readonly PodFacts[]): readonly PodFacts[] {
  const last = new Map(pods.map((pod) => [pod.identity, pod]));
  return pods.filter((pod) => last.get(pod.identity) === pod);
}

/** One of them cannot listen, or its pod does not start beside the other's. */
function excludes(one: PortOfPod, other: PortOfPod, mayMeet: MayMeet): boolean {
  if (!collide(one, other)) return false;
  if (one.pod === other.pod)
    // In a pod one container may declare the port on which another listens.
    return one.container !== other.container && (one.flag === undefined) === (other.flag === undefined);
  return mayMeet(one.pod.nodes, other.pod.nodes);
}

/** Of a port that a pod declares as well, the containers that listen on it. */
function named(uses: readonly PortOfPod[]): readonly PortOfPod[] {
  return [...grouped(uses, ({ pod }) => pod.owner).values()].flatMap((some) => {
    const listening = some.filter(({ flag }) => flag !== undefined);
    return listening.length > 0 ? listening : some;
  });
}

const manifestDuplicates = pairs("CSI110", "manifest-duplicates", (facts, mayMeet) => {
  const last = new Set(lastOfEach(facts.pods));
  const registrars = facts.deployments.filter((one) => isForLinux(one) && last.has(one.pod));
  const meet = (one: Deployment, other: Deployment) =>
    one !== other &&
    // Of other kinds a node may have none.
    (one.pod === other.pod || [one, other].some(({ object }) => object.kind === "DaemonSet")) &&
    mayMeet(one.pod.nodes, other.pod.nodes);
  const tell = (keyOf: (one: Deployment) => string, what: string, isMeant: typeof meet) =>
    Array.from(grouped(registrars, keyOf), ([key, group]) => {
      if (key === "" || isTemplate(key)) return undefined;
      const some = group.filter((one) => group.some((other) => isMeant(one, other) && meet(one, other)));
      if (some.length === 0) return undefined;
      const [names, all] = together(some.map(({ place }) => place));
      const objects = some.map(({ object }) => object);
      return { ...problem(names, `${all} register ${what}${key}`, LEAVE_ONE), objects };
    });
  return [
    tell(pathOf, "", () => true),
    tell(registrationSocketOf, "a driver at ", (one, other) => pathOf(one) !== pathOf(other)),
  ];
});

const pathOf = ({ settings }: Deployment) => settings.kubeletRegistrationPath.replace(/\/{2,}/g, "/");

function registrationSocketOf({ settings, mounts, pod }: Deployment): string {
  const [directory, [name]] = [onHost(settings.pluginRegistrationPath, mounts), pod.driverNames];
  return directory === undefined || name === undefined ? "" : registrationSocketPath(directory, name);
}

export const pairChecks = [manifestPorts, manifestDuplicates];
