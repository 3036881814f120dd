import { KUBELET_ROOTS } from "../registrar/registration/hints";

/** Kubelet's root folder by a word for the distribution: `microk8s`, `k0s`, `rke2`, `k3s`, `tanzu`. */
export const DISTRIBUTIONS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(KUBELET_ROOTS).flatMap(([names, root]) =>
    names.split(", ").map((name) => [name.toLowerCase().replace(/ .*/, ""), root]),
  ),
);
