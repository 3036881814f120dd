import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createTempFolder } from "../../support/temp-folder";
import { KYVERNO_OBJECTS, programPath } from "./build";
import type { Cluster } from "./cluster";
import { startPart } from "./part";
import { insideOf } from "./stage";
import { until } from "./until";

export const hasKyverno = existsSync(KYVERNO_OBJECTS);
const NAMESPACE = "kyverno";
const ADDRESS = "127.0.0.1:9443";
/** What the admission controller needs, without the programs that its project starts in pods. */
const NEEDED = /^kind: (?:CustomResourceDefinition|Namespace|ServiceAccount|ConfigMap)$/m;

/** Kyverno leaves out kube-system, where the suite's drivers run, like many others: see docs/charts.md. */
const LEFT_OUT = [
  String.raw`{\"key\":\"kubernetes.io/metadata.name\",\"operator\":\"NotIn\",\"values\":[\"kube-system\"]},`,
  "[*/*,kube-system,*]",
];

/** Kyverno's admission controller, as a process beside the API server: the cluster has no proxy for a Service. */
export async function startKyverno(cluster: Cluster) {
  const { kubectl } = cluster;
  const folder = await createTempFolder();
  const objects = readFileSync(KYVERNO_OBJECTS, "utf8").split(/^---$/m);
  const needed = objects.filter((text) => NEEDED.test(text)).join("---\n");
  writeFileSync(
    folder.at("kyverno.yaml"),
    LEFT_OUT.reduce((text, part) => text.replace(part, ""), needed),
  );
  await kubectl("apply", "--server-side", `--filename=${folder.at("kyverno.yaml")}`);
  const env = {
    ...{ KYVERNO_NAMESPACE: NAMESPACE, KYVERNO_POD_NAME: "kyverno-0", KYVERNO_DEPLOYMENT: "kyverno" },
    ...{ KYVERNO_SERVICEACCOUNT_NAME: "kyverno-admission-controller", KYVERNO_SVC: "kyverno-svc" },
    ...{ INIT_CONFIG: "kyverno", METRICS_CONFIG: "kyverno-metrics", HOME: folder.path },
  };
  const part = await startPart(
    [
      ...["env", ...Object.entries(env).map(([name, value]) => `${name}=${value}`)],
      programPath("kyverno"),
      `--kubeconfig=${insideOf(cluster).controlPlane.kubeconfig("admin")}`,
      ...[`--serverIP=${ADDRESS}`, "--webhookServerPort=9443", "--controllerRuntimeMetricsAddress=0"],
      "--caSecretName=kyverno-svc.kyverno.svc.kyverno-tls-ca",
      "--tlsSecretName=kyverno-svc.kyverno.svc.kyverno-tls-pair",
      ...["--disableMetrics=true", "--autoUpdateWebhooks=true", "--loggingFormat=text"],
    ],
    folder.at("kyverno.log"),
  );
  const close = async () => {
    await part.close();
    // A policy webhook that nobody answers would refuse what comes next.
    for (const kind of ["mutating", "validating"])
      await kubectl("delete", `${kind}webhookconfigurations`, "--all");
    await folder[Symbol.asyncDispose]();
  };
  try {
    await until(async () => {
      const found = await kubectl("get", "validatingwebhookconfigurations", "--output=name");
      if (!found.includes("kyverno-policy-validating")) throw new Error(part.lastWords());
    }, "Kyverno has its webhooks");
  } catch (error) {
    await close();
    throw error;
  }
  return { [Symbol.asyncDispose]: close };
}
