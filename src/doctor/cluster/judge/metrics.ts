import { list, text, tree } from "../../../kube-api/objects";
import type { Deployment } from "../../manifest/read/deployments";
import { wordsOf } from "../../manifest/read/start";

const LOOPBACK = /^(?:localhost$|127\.|::1$)/;

/** Where a registrar of ours serves metrics, and to whom. Undefined: not known, or another program, which has none. */
export function metricsOf({ program, settings, source, unseen, pod }: Deployment) {
  if (program.kind !== "ours" || unseen !== undefined || settings.refusal !== undefined) return undefined;
  const { http } = settings;
  if (http === undefined) return { endpoint: null, port: null, reach: "none" } as const;
  const { host = "", port } = http;
  // Such as kube-rbac-proxy, which serves what the loopback address has.
  const upstream = new RegExp(`(?:localhost|127\\.0\\.0\\.1|\\[::1\\]):${port}\\b`);
  const isProxied = () => pod.drivers.some((one) => wordsOf(one).some((word) => upstream.test(word)));
  const isOpen = !LOOPBACK.test(host) || isProxied();
  const { containers, initContainers, hostNetwork } = source.pod;
  const declared = [...list(containers), ...list(initContainers)]
    .flatMap((container) => list(tree(container).ports).map(tree))
    .find(({ containerPort }) => containerPort === port);
  return {
    endpoint: `${host.includes(":") ? `[${host}]` : host}:${port}${settings.metricsPath}`,
    /** By its name a PodMonitor finds it. */
    port: text(declared?.name) || null,
    reach: isOpen ? "cluster" : hostNetwork === true ? "node" : "pod",
  } as const;
}
