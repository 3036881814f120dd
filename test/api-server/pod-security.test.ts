import { parseAllDocuments } from "yaml";
import { DISTRIBUTIONS } from "../../src/host-path/kubelet-roots";
import { runCommand } from "../support/run-command";
import { useCluster } from "./support/cluster";
import { dryRun } from "./support/dry-pods";

// What an API server takes of the pods and of an account for OpenShift, in a namespace with the label of docs/security.md.

const cluster = useCluster();
const FORMS = [
  ["--driver-name=disk.csi.example.com", "--image=registrar:v1", "--driver-image=driver:v1"],
  ["--node-wide", "--image=registrar:v1", "--name=every"],
];

test.each(
  DISTRIBUTIONS.flatMap((distribution) =>
    FORMS.map((form, at) => [distribution, form, `s${at}-${distribution}`] as const),
  ),
)(
  "%s, %j: the namespace with the label admits the pods, and one with the standard baseline does not",
  async (distribution, form, namespace) => {
    const words = [...form, `--distribution=${distribution}`, `--namespace=${namespace}`];
    const { stdout, stderr } = await runCommand("manifest", ...words);
    expect(stderr).toBe("");
    const enforce = (standard: string) => `pod-security.kubernetes.io/enforce=${standard}`;
    await cluster.controlPlane.kubectl("create", "namespace", namespace);
    await cluster.controlPlane.kubectl("label", "namespace", namespace, enforce("privileged"));
    const said = await cluster.apply(stdout);
    expect(said.includes("rolebinding.rbac.authorization.k8s.io/")).toBe(distribution === "openshift");
    const account = `{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: ${namespace}}}`;
    if (distribution !== "openshift") await cluster.apply(account);
    const objects = parseAllDocuments(stdout).map((document) => document.toJS());
    const { template } = objects.find(({ kind }) => kind === "DaemonSet").spec;
    const { annotations } = template.metadata;
    await dryRun(cluster, namespace, template.spec, { annotations });
    await cluster.controlPlane.kubectl("label", "--overwrite", "namespace", namespace, enforce("baseline"));
    await expect(dryRun(cluster, namespace, template.spec, { annotations })).rejects.toThrow(
      "violates PodSecurity",
    );
  },
);
