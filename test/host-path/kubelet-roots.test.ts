import { KUBELET_ROOTS } from "../../src/host-path/kubelet-roots";

// The root directory that each distribution gives its kubelet, and the file that says so. All are below what stays writable.
test.each([
  [
    "microk8s",
    "/var/snap/microk8s/common/var/lib/kubelet",
    "canonical/microk8s microk8s-resources/default-args/kubelet",
  ],
  ["k0s", "/var/lib/k0s/kubelet", "k0sproject/k0s pkg/component/worker/kubelet.go"],
  // The agent of RKE2 is that of k3s, which gives kubelet a root on Windows only.
  ["k3s", "/var/lib/kubelet", "k3s-io/k3s pkg/daemons/agent/agent_linux.go"],
  ["rke2", "/var/lib/kubelet", "k3s-io/k3s pkg/daemons/agent/agent_linux.go"],
  ["talos", "/var/lib/kubelet", "siderolabs/talos internal/app/machined/pkg/system/services/kubelet.go"],
  [
    "bottlerocket",
    "/var/lib/kubelet",
    "bottlerocket-os/bottlerocket-core-kit packages/kubernetes-1.30/kubelet-exec-start-conf",
  ],
] as const)("%s: %s, by %s", (distribution, root, _source) => {
  expect(KUBELET_ROOTS[distribution]).toBe(root);
});
