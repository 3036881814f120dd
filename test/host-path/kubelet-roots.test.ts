import { parseAllDocuments } from "yaml";
import { DISTRIBUTIONS, type Distribution, KUBELET_ROOTS } from "../../src/host-path/kubelet-roots";
import { runCommand } from "../support/run-command";

/** What a distribution gives its kubelet, and the directories that stay writable, each with the file that says so. */
type Facts = readonly [root: string, writable: readonly string[]];

/** These run on any Linux: the operating system decides. */
const ANY = ["/var", "/etc", "/opt"];
const USUAL = "/var/lib/kubelet";

const FACTS: Readonly<Record<Distribution, Facts>> = {
  // canonical/microk8s microk8s-resources/default-args/kubelet; the snap itself is read-only, and its data is not.
  microk8s: ["/var/snap/microk8s/common/var/lib/kubelet", ANY],
  // k0sproject/k0s pkg/config/cfgvars.go
  k0s: ["/var/lib/k0s/kubelet", ANY],
  // openshift/csi-operator assets/base/node.yaml; coreos/fedora-coreos-docs modules/ROOT/pages/storage.adoc
  openshift: [USUAL, ["/var", "/etc"]],
  // The edition that was Pivotal's: cloudfoundry-incubator/kubo-release spec/kubelet_drain_spec.rb; Velero's page has it,
  // too: site/content/docs/main/file-system-backup.md.
  tanzu: ["/var/vcap/data/kubelet", ["/var/vcap/data"]],
  // NixOS/nixpkgs nixos/modules/services/cluster/kubernetes/kubelet.nix: --root-dir is the option dataDir.
  nixos: ["/var/lib/kubernetes", ["/var"]],
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
    const [root, writable] = FACTS[distribution];
    expect(KUBELET_ROOTS[distribution]).toBe(root);
    const { stdout } = await runCommand("manifest", ...form, `--distribution=${distribution}`);
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
