/** The default of kubelet's --root-dir. */
export const DEFAULT_KUBELET_ROOT = "/var/lib/kubelet";

/** Kubelet's root directory in distributions that set it, or whose pods need more rights, by a word for each. */
export const KUBELET_ROOTS = {
  // canonical/microk8s microk8s-resources/default-args/kubelet
  microk8s: "/var/snap/microk8s/common/var/lib/kubelet",
  // k0sproject/k0s pkg/config/cfgvars.go
  k0s: "/var/lib/k0s/kubelet",
  openshift: DEFAULT_KUBELET_ROOT,
  // Pivotal's edition: cloudfoundry-incubator/kubo-release spec/kubelet_drain_spec.rb
  tanzu: "/var/vcap/data/kubelet",
  // NixOS/nixpkgs nixos/modules/services/cluster/kubernetes/kubelet.nix, dataDir
  nixos: "/var/lib/kubernetes",
} as const;

type Distribution = keyof typeof KUBELET_ROOTS;

export const DISTRIBUTIONS = Object.keys(KUBELET_ROOTS) as readonly Distribution[];

/** `/var/lib/k0s/kubelet (k0s)`, for those that differ from the default. */
export function otherKubeletRoots(): readonly string[] {
  return Object.entries(KUBELET_ROOTS)
    .filter(([, root]) => root !== DEFAULT_KUBELET_ROOT)
    .map(([distribution, root]) => `${root} (${distribution})`);
}
