import { check, problem } from "../../findings/finding";
import { grouped } from "../../findings/grouped";
import { LEAVE_ONE, together } from "../../rules/duplicates";
import { isTemplate } from "../../rules/words";
import { mayMeet } from "../node-rules";
import type { PodFacts } from "../pod";
import type { Deployment, ManifestFacts } from "../read-deployments";
import { collide, type PortUse } from "../read-ports";
import { isForLinux } from "./each-deployment";

interface PortOfPod extends PortUse {
  readonly pod: PodFacts;
}

export const manifestPorts = check<ManifestFacts>("CSI109", "manifest-ports", ({ deployments, pods }) => {
  const uses = lastOfEach(pods)
    .filter(({ isForWindows }) => !isForWindows)
    .flatMap((pod) => pod.ports.map((use): PortOfPod => ({ ...use, pod })));
  const withRegistrar = new Set(deployments.map(({ pod }) => pod));
  const networkOf = ({ port, isOnNode, pod }: PortOfPod) =>
    `port ${port} of ${isOnNode ? "the node" : pod.owner}`;
  return Array.from(grouped(uses, networkOf), ([network, group]) => {
    const isOurs = ({ pod }: PortOfPod) => withRegistrar.has(pod);
    const ours = group.filter(isOurs);
    const some = named(
      group.filter((one) => (isOurs(one) ? group : ours).some((other) => excludes(one, other))),
    );
    if (some.length === 0) return undefined;
    const [names, all] = together(some.map(({ pod, container }) => `${pod.owner}, container ${container}`));
    const set = new Set(
      some.map(({ pod, container, port, flag = `containerPort: ${port}` }) =>
        some.length > 2 ? `${pod.identity}, container ${container}: ${flag}` : flag,
      ),
    );
    return problem(
      names,
      `${all} serve on ${network}`,
      `give each a port of its own: now ${[...set].join(some.length > 2 ? "; " : ", ")}`,
    );
  });
});

/** An object that is given twice is one object to the API server: the last one counts. */
function lastOfEach(pods: readonly PodFacts[]): readonly PodFacts[] {
  const last = new Map(pods.map((pod) => [pod.identity, pod]));
  return pods.filter((pod) => last.get(pod.identity) === pod);
}

/** One of them cannot listen, or its pod does not start beside the other's. */
function excludes(one: PortOfPod, other: PortOfPod): boolean {
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

export const manifestDuplicates = check<ManifestFacts>("CSI110", "manifest-duplicates", (facts) => {
  const last = new Set(lastOfEach(facts.pods));
  const pathOf = ({ settings }: Deployment) => settings.kubeletRegistrationPath;
  const daemonSets = facts.deployments.filter(
    (one) =>
      isForLinux(one) && one.objectKind === "DaemonSet" && pathOf(one) !== "" && !isTemplate(pathOf(one)),
  );
  return Array.from(grouped(daemonSets, pathOf), ([path, group]) => {
    const given = group.filter(({ pod }) => last.has(pod));
    const some = given.filter((one) =>
      given.some((other) => other !== one && mayMeet(one.pod.nodes, other.pod.nodes)),
    );
    const [names, all] = together(some.map(({ place }) => place));
    return some.length > 1 ? problem(names, `${all} register ${path}`, LEAVE_ONE) : undefined;
  });
});
