import { parseAllDocuments } from "yaml";
import { runCommand } from "../../support/run-command";

const REQUIRED = ["--driver-name=x.csi.example.com", "--image=registrar:v1", "--driver-image=x:v1"];
const run = (...flags: readonly string[]) => runCommand("manifest", ...REQUIRED, ...flags);
const objectsIn = (text: string) => parseAllDocuments(text).map((document) => document.toJS());
const kindsIn = (text: string) =>
  objectsIn(text)
    .map(({ kind }) => kind)
    .join(" ");

test("writes the CSIDriver and the DaemonSet to stdout, and nothing else", async () => {
  const { status, stdout, stderr } = await run();
  expect(kindsIn(stdout)).toBe("CSIDriver DaemonSet");
  expect([status, stderr]).toEqual([0, ""]);
});

test.each([
  ["--include=alerts,podmonitor", "PodMonitor PrometheusRule"],
  ["--include alerts --include csidriver", "CSIDriver PrometheusRule"],
  ["--lifecycle-mode=Ephemeral,Persistent --include=storageclass,inline-pod", "StorageClass Pod"],
  ["--include=all", "CSIDriver DaemonSet StorageClass PodMonitor PrometheusRule ConfigMap"],
  ["--include=all,inline-pod", "CSIDriver DaemonSet StorageClass Pod PodMonitor PrometheusRule ConfigMap"],
  ["--include=all --lifecycle-mode=Ephemeral", "CSIDriver DaemonSet PodMonitor PrometheusRule ConfigMap"],
])("%s chooses what to write", async (words, kinds) => {
  expect(kindsIn((await run(...words.split(" "))).stdout)).toBe(kinds);
});

test("--include=all writes the CSIDriver that is written without it: some of its fields cannot be changed", async () => {
  const csiDriverOf = async (...flags: readonly string[]) => objectsIn((await run(...flags)).stdout)[0];
  expect(await csiDriverOf("--include=all")).toEqual(await csiDriverOf());
});

test.each([
  ["--include=csidriver --driver-name=a", "CSIDriver"],
  ["--include=namespace --namespace=a", "Namespace"],
  ["--include=namespace,podmonitor --node-wide --namespace=a", "Namespace PodMonitor"],
  ["--include=storageclass,inline-pod,podmonitor --driver-name=a", "StorageClass Pod PodMonitor"],
  ["--include alerts,dashboard", "PrometheusRule ConfigMap"],
  ["--include=podmonitor,dashboard --node-wide", "PodMonitor ConfigMap"],
])("%s needs no image", async (words, kinds) => {
  const { stdout, stderr } = await runCommand("manifest", ...words.split(" "));
  expect([stderr, kindsIn(stdout)]).toEqual(["", kinds]);
});

test.each([
  ["--include=csidriver", "--driver-arg=--x", "daemonset"],
  ["--include=csidriver,alerts", "--node-condition=a/b", "daemonset"],
  ["--include=csidriver", "--http-port=9809", "daemonset"],
  ["--include=alerts", "--name=x", "daemonset or inline-pod or podmonitor"],
  ["--include=daemonset", "--attach-required", "csidriver"],
  ["--include=daemonset", "--pod-info-on-mount=false", "csidriver"],
  ["--namespace=x", "--storage-class=fast", "storageclass"],
])("with %s, %s would be lost: it is for %s", async (include, flag, parts) => {
  const { status, stdout, stderr } = await run(include, flag);
  const [name] = flag.split("=");
  const problem = `${name} is for ${parts}, which is not written: name it in --include`;
  expect([status, stdout, stderr]).toEqual([2, "", `registrar manifest: ${problem}\n`]);
});

test("each flag reaches its object", async () => {
  const { stdout, stderr } = await run(
    ...[
      "--include=all,inline-pod",
      "--name=n",
      "--namespace=ns",
      "--distribution=microk8s",
      "--plugin-folder=p",
    ],
    ...["--http-port=1234", "--attach-required", "--storage-capacity", "--fs-group-policy=None"],
    ...["--lifecycle-mode=Ephemeral", "--lifecycle-mode", "Persistent", "--storage-class=fast"],
    ...["--driver-arg=--endpoint=unix:///csi/csi.sock", "--driver-arg=-x"],
    ...["--node-allocatable-update-period=60", "--prevent-pod-scheduling-if-missing"],
    ...["--token-audience=vault", "--token-audience=", "--service-account-token-in-secrets"],
  );
  expect(stderr).toBe("");
  const [csiDriver, daemonSet, storageClass, pod, podMonitor] = objectsIn(stdout);
  expect(csiDriver.spec).toEqual({
    attachRequired: true,
    podInfoOnMount: true,
    volumeLifecycleModes: ["Persistent", "Ephemeral"],
    fsGroupPolicy: "None",
    storageCapacity: true,
    nodeAllocatableUpdatePeriodSeconds: 60,
    preventPodSchedulingIfMissing: true,
    tokenRequests: [{ audience: "vault" }, { audience: "" }],
    serviceAccountTokenInSecrets: true,
  });
  expect(daemonSet.metadata).toMatchObject({ name: "n", namespace: "ns" });
  const [registrar, driver] = daemonSet.spec.template.spec.containers;
  const root = "/var/snap/microk8s/common/var/lib/kubelet";
  expect(registrar.image).toBe("registrar:v1");
  expect(registrar.args).toContain(`--kubelet-registration-path=${root}/plugins/p/csi.sock`);
  expect(registrar.args).toContain("--http-endpoint=:1234");
  expect(driver).toMatchObject({ image: "x:v1", args: ["--endpoint=unix:///csi/csi.sock", "-x"] });
  expect(stdout).not.toContain("path: /var/lib/kubelet");
  expect(storageClass).toMatchObject({ metadata: { name: "fast" }, provisioner: "x.csi.example.com" });
  expect(pod.spec.volumes[0].csi.driver).toBe("x.csi.example.com");
  expect(podMonitor.spec.selector.matchLabels).toEqual(daemonSet.spec.selector.matchLabels);
});

test.each([
  ["--node-wide", "--include=daemonset,podmonitor,alerts,dashboard"],
  ["--node-wide=true", "--include=all"],
  ["-node-wide", "--include=dashboard,alerts,podmonitor,daemonset"],
])("%s %s writes one registrar for all drivers, and what goes with it", async (flag, include) => {
  const allow = "--allow-drivers=*=/plugins/*/csi.sock";
  const { stdout, stderr } = await runCommand("manifest", flag, "--image=r:1", include, allow);
  expect([stderr, kindsIn(stdout)]).toEqual(["", "DaemonSet PodMonitor PrometheusRule ConfigMap"]);
  expect(stdout).toContain("--csi-address=/plugins/*/csi.sock");
  expect(stdout).toContain(allow);
});

test("a namespace comes first, and admits the pods of the DaemonSet", async () => {
  const words = ["--namespace=storage", "--include=daemonset,namespace", "--distribution=openshift"];
  const { stdout } = await run(...words);
  expect(kindsIn(stdout)).toBe("Namespace ServiceAccount RoleBinding DaemonSet");
  expect(objectsIn(stdout)[0].metadata).toEqual({
    name: "storage",
    labels: { "pod-security.kubernetes.io/enforce": "privileged" },
  });
});

const DRIVER_FORM = ["manifest", ...REQUIRED, "--include=daemonset"];
const NODE_WIDE_FORM = ["manifest", "--node-wide", "--image=r:1"];
const DROP_FORM = ["manifest", "--image-policy", "--image=r:1", "--drop", "--include=daemonset"];

test.each([
  ["ServiceAccount RoleBinding DaemonSet", DRIVER_FORM],
  ["ServiceAccount RoleBinding DaemonSet", NODE_WIDE_FORM],
  ["ServiceAccount RoleBinding DaemonSet", DROP_FORM],
  [
    "ServiceAccount RoleBinding ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ClusterRole ClusterRoleBinding DaemonSet",
    [...NODE_WIDE_FORM, "--node-condition={driver}/Registered"],
  ],
])(
  "OpenShift: %s, by %j: an account that may use the SCC, and its type for SELinux",
  async (kinds, words) => {
    const [command = "", ...flags] = words;
    const { stdout, stderr } = await runCommand(command, ...flags, "--distribution=openshift");
    expect([stderr, kindsIn(stdout)]).toEqual(["", kinds]);
    const [account, binding, ...others] = objectsIn(stdout);
    const { metadata, spec } = others.at(-1);
    expect(account.metadata).toEqual({ name: metadata.name, namespace: metadata.namespace });
    expect(binding).toMatchObject({
      metadata: account.metadata,
      roleRef: { kind: "ClusterRole", name: "system:openshift:scc:privileged" },
      subjects: [{ kind: "ServiceAccount", ...account.metadata }],
    });
    const { annotations } = spec.template.metadata;
    expect(annotations).toMatchObject({ "openshift.io/required-scc": "privileged" });
    expect(spec.template.spec.serviceAccountName).toBe(metadata.name);
    const [{ securityContext }] = spec.template.spec.containers;
    expect(securityContext).toMatchObject({
      seLinuxOptions: { type: "spc_t" },
      capabilities: { drop: ["ALL"] },
    });
    const elsewhere = await runCommand(command, ...flags, "--distribution=talos");
    expect(elsewhere.stdout).not.toMatch(/openshift|kind: RoleBinding|seLinuxOptions: \{type: spc_t\}$/m);
  },
);

const READINESS = ["--startup-taint={driver}/agent-not-ready", "--node-condition={driver}/Registered"];

test("the policy comes before the rights that it confines, and both before the DaemonSet", async () => {
  expect(kindsIn((await run(...READINESS, "--node-readiness-rule")).stdout)).toBe(
    "ServiceAccount ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ClusterRole ClusterRoleBinding " +
      "CSIDriver DaemonSet NodeReadinessRule",
  );
});

test("for a cluster without the policy rights are written only when they may be unconfined", async () => {
  const old = [...READINESS, "--kubernetes-version=v1.29.3"];
  const { status, stdout, stderr } = await run(...old);
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("before Kubernetes 1.30; --unconfined writes rights for every node");
  const written = (await run(...old, "--unconfined")).stdout;
  expect(kindsIn(written)).not.toContain("ValidatingAdmissionPolicy");
  expect(written).toContain("it may change every node");
  expect((await run(...READINESS, "--kubernetes-version=1.30")).stdout).toBe(
    (await run(...READINESS)).stdout,
  );
});

test.each([
  [["--fs-group-policy=File"], 20],
  [["--storage-capacity"], 21],
  [["--token-audience=a"], 21],
  [["--node-allocatable-update-period=60"], 35],
  [["--service-account-token-in-secrets", "--token-audience=a"], 35],
  [["--prevent-pod-scheduling-if-missing"], 37],
])("%j needs Kubernetes 1.%i", async (flags, minor) => {
  const older = `1.${minor - 1}`;
  const { status, stderr } = await run(...flags, `--kubernetes-version=v${older}.9+k3s1`);
  expect(stderr).toContain(`needs Kubernetes 1.${minor}, not ${older}; without --kubernetes-version it is`);
  expect(status).toBe(2);
  const { stdout } = await run(...flags, `--kubernetes-version=1.${minor}`);
  expect(stdout).toBe((await run(...flags)).stdout);
});

test("a version changes nothing of objects that every version takes", async () => {
  expect((await run("--kubernetes-version=1.29")).stdout).toBe((await run()).stdout);
});

test("--node-access impersonation needs no policy: the registrar asks as its own node", async () => {
  const words = ["--node-condition=a/b", "--node-access=impersonation", "--kubernetes-version=1.36"];
  const { stdout } = await run(...words);
  const [account, role, , , daemonSet] = objectsIn(stdout);
  expect([account.kind, role.kind, daemonSet.kind]).toEqual(["ServiceAccount", "ClusterRole", "DaemonSet"]);
  expect(role.rules.flatMap(({ verbs }: { readonly verbs: readonly string[] }) => verbs)).toEqual([
    "impersonate:associated-node",
    ...["get", "watch", "patch", "get"].map((verb) => `impersonate-on:associated-node:${verb}`),
  ]);
  expect(daemonSet.spec.template.spec.containers[0].args).toContain("--impersonate-node");
});

test("--node-wide takes the drivers: the registrar's argument, and one taint and condition for each", async () => {
  const words = ["--node-wide", "--image=r:1", ...READINESS];
  const { stdout } = await runCommand("manifest", ...words, "--allow-drivers=a.example.com,nfs.csi.k8s.io");
  const objects = objectsIn(stdout);
  const policy = JSON.stringify(objects.find(({ kind }) => kind === "ValidatingAdmissionPolicy"));
  expect(policy).toContain("t.key in ['a.example.com/agent-not-ready', 'nfs.csi.k8s.io/agent-not-ready']");
  expect(policy).toContain("c.type in ['a.example.com/Registered', 'nfs.csi.k8s.io/Registered']");
  const [registrar] = objects.find(({ kind }) => kind === "DaemonSet").spec.template.spec.containers;
  expect(registrar.args).toContain("--allow-drivers=a.example.com,nfs.csi.k8s.io");
  expect((await runCommand("manifest", ...words)).stdout).toContain(
    "matches('^[-.a-zA-Z0-9]+/agent-not-ready$')",
  );
});

test("--kubelet-root is for all other distributions, with a slash at its end or without", async () => {
  const { stdout } = await run("--kubelet-root=/data/kubelet");
  expect(stdout).toContain("path: /data/kubelet/plugins_registry");
  expect((await run("--kubelet-root=/data/kubelet/")).stdout).toBe(stdout);
});

const OFFICIAL = "--image=registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.17.0";

test.each([
  [["--driver-name=x.y", "--driver-image=a", OFFICIAL], /".*" is the official registrar's image; name the/],
  [["--node-wide", "--image=a", "--kubernetes-version=1.21"], /--node-wide needs .* not 1.21; without/],
  [["--node-wide", "--image=a", "--driver-name=x"], /--driver-name cannot be given with --node-wide/],
  [["--node-wide", "--image=a", "--allow-drivers=a=/p/**/s"], /one '\*' only/],
  [["--node-wide", "--image=a", "--allow-drivers=,"], /--allow-drivers "," names no driver/],
  [[...REQUIRED, "--allow-drivers=a"], /--allow-drivers needs --node-wide/],
  [
    ["--node-wide", "--image=a", "--startup-taint={driver}/x", "--allow-drivers=node.kubernetes.io"],
    /\{driver\}\/x with driver node.kubernetes.io is not a name, or one of other programs/,
  ],
  [[...REQUIRED, "--startup-taint={driver}"], /with \{driver\} DNS-NAME\/NAME/],
  [[...REQUIRED, "--driver-arg", "--v=2"], /: write --driver-arg=--v=2$/m],
  [[...REQUIRED, "--unconfined"], /unconfined.*kubernetes-version/],
  [[...REQUIRED, "--node-access=impersonation"], /node-access.*node-condition/],
  [[...REQUIRED, ...READINESS, "--node-access=impersonation"], /does not let a node remove its own taints/],
  [
    [...REQUIRED, "--node-condition=a/b", "--node-access=impersonation", "--kubernetes-version=1.35"],
    /--node-access impersonation needs Kubernetes 1.36, not 1.35; without/,
  ],
  [[...REQUIRED, "--kubernetes-version=2"], /--kubernetes-version: "2" is not a version of Kubernetes/],
  [[...REQUIRED, "--kubernetes-version=1.29", "--unconfined"], /--unconfined is for --startup-taint and/],
  [[...REQUIRED, "--kubernetes-version=1.30", "--unconfined"], /--unconfined is for .* before 1.30/],
  [["--node-wide", "--image=a", "--include=csidriver"], /--include csidriver is for a single driver/],
  [["--driver-name=a", "--image=a"], /it needs --driver-image, or --node-wide/],
  [[], /it needs --driver-name and --image and --driver-image, or --node-wide; see/],
  [["--node-wide"], /it needs --image; see/],
  [[...REQUIRED, "--image-policy=false", "--drop"], /there is no flag --drop; see registrar manifest --help/],
  [["--include=namespace"], /it needs --namespace; see/],
  [["--include=csidriver", "--image=a"], /it needs --driver-name; see/],
  [[...REQUIRED, "--http-port=0"], /--http-port "0" must be from 1 to 65535/],
  [[...REQUIRED, "--distribution=microk9s"], /did you mean microk8s\?/],
  [[...REQUIRED, "--include=daemonsets"], /did you mean daemonset\?/],
  [[...REQUIRED, "--lifecycle-mode=Persistent,ephemeral"], /--lifecycle-mode: "ephemeral" is not.*Ephemeral/],
])("%j is a usage error of one line, and writes nothing", async (flags, complaint) => {
  const { status, stdout, stderr } = await runCommand("manifest", ...flags);
  expect(stderr).toMatch(complaint);
  expect(stderr.trimEnd()).not.toContain("\n");
  expect([status, stdout]).toEqual([2, ""]);
});
