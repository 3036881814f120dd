import { parseAllDocuments } from "yaml";
import { DISTRIBUTIONS, type Distribution, KUBELET_ROOTS } from "../../src/host-path/kubelet-roots";
import { runCommand } from "../support/run-command";

/** What a distribution gives its kubelet, the directories that stay writable, and the files that say so. */
interface Facts {
  readonly root: string;
  readonly by: string;
  readonly writable: readonly string[];
  readonly writableBy?: string;
}

/** These run on any Linux: the operating system decides. */
const ANY = { writable: ["/var", "/etc", "/opt"] };
const USUAL = "/var/lib/kubelet";

const FACTS: Readonly<Record<Distribution, Facts>> = {
  // The snap itself is read-only, and its data is not.
  microk8s: {
    root: "/var/snap/microk8s/common/var/lib/kubelet",
    by: "canonical/microk8s microk8s-resources/default-args/kubelet",
    writable: ["/var", "/etc", "/opt"],
  },
  k0s: { root: "/var/lib/k0s/kubelet", by: "k0sproject/k0s pkg/config/cfgvars.go", ...ANY },
  // It gives kubelet a root on Windows only, and so does RKE2, whose agent is that of k3s.
  k3s: { root: USUAL, by: "k3s-io/k3s pkg/daemons/agent/agent_linux.go", ...ANY },
  rke2: { root: USUAL, by: "rancher/rke2 pkg/executor/staticpod/staticpod.go", ...ANY },
  openshift: {
    root: USUAL,
    by: "openshift/csi-operator assets/base/node.yaml",
    writable: ["/var", "/etc"],
    writableBy: "coreos/fedora-coreos-docs modules/ROOT/pages/storage.adoc",
  },
  // The edition that was Pivotal's; Velero's page has it, too: site/content/docs/main/file-system-backup.md.
  tanzu: {
    root: "/var/vcap/data/kubelet",
    by: "cloudfoundry-incubator/kubo-release spec/kubelet_drain_spec.rb",
    writable: ["/var/vcap/data"],
  },
  talos: {
    root: USUAL,
    by: "siderolabs/talos internal/app/machined/pkg/system/services/kubelet.go",
    writable: ["/var"],
    writableBy: "siderolabs/talos pkg/machinery/constants/constants.go, EphemeralMountPoint",
  },
  bottlerocket: {
    root: USUAL,
    by: "bottlerocket-os/bottlerocket-core-kit packages/kubernetes-1.31/kubelet-exec-start-conf",
    writable: ["/var", "/opt", "/mnt"],
    writableBy: "bottlerocket-os/bottlerocket-core-kit packages/release/var.mount, opt.mount, mnt.mount",
  },
};

/** Kubelet makes these below its root before it runs a pod: pkg/kubelet/kubelet.go, setupDataDirs. */
const BY_KUBELET = ["pods", "plugins", "plugins_registry"];

interface HostPath {
  readonly path: string;
  readonly type: string;
}

const DRIVER = ["--driver-name=x.csi.example.com", "--image=registrar:v1", "--driver-image=x:v1"];
const FORMS = [DRIVER, ["--node-wide", "--image=registrar:v1"]];

test.each(DISTRIBUTIONS.flatMap((distribution) => FORMS.map((form) => [distribution, form] as const)))(
  "%s: kubelet's root, and no volume of %j needs a directory that is read-only or not there",
  async (distribution, form) => {
    const { root, writable } = FACTS[distribution];
    expect(KUBELET_ROOTS[distribution]).toBe(root);
    const words = [...form, `--distribution=${distribution}`, "--include=daemonset"];
    const { stdout } = await runCommand("manifest", ...words);
    const objects = parseAllDocuments(stdout).map((document) => document.toJS());
    const { volumes } = objects.find(({ kind }) => kind === "DaemonSet").spec.template.spec;
    const hostPaths: readonly HostPath[] = volumes.flatMap(
      ({ hostPath }: { readonly hostPath?: HostPath }) => hostPath ?? [],
    );
    const isBelow = (path: string, directory: string) => path.startsWith(`${directory}/`);
    const made = hostPaths.filter(({ type }) => type === "DirectoryOrCreate");
    const there = ["/dev", ...BY_KUBELET.map((name) => `${root}/${name}`)];
    expect(made.filter(({ path }) => !writable.some((directory) => isBelow(path, directory)))).toEqual([]);
    expect(hostPaths.filter((one) => !made.includes(one) && !there.includes(one.path))).toEqual([]);
    expect(hostPaths.map(({ path }) => path)).toContain(`${root}/plugins_registry`);
  },
);
