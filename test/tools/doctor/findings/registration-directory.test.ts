import { kubeletDirectoryOf } from "../../../../src/tools/doctor/findings/registration-directory";

const DEFAULT = "/var/lib/kubelet/plugins_registry";
const TOLD = "/var/lib/kubelet/plugins/x.csi/csi.sock";
const MICROK8S = "/var/snap/microk8s/common/var/lib/kubelet/plugins_registry";

test.each([
  ["kubelet's root is no mount", DEFAULT, TOLD, DEFAULT],
  ["a bind mount of a folder with a longer path", `/mnt/disk/long${DEFAULT}`, TOLD, DEFAULT],
  ["a file system of its own", "/plugins_registry", TOLD, DEFAULT],
  ["kubelet has another root", "/k/plugins_registry", "/d/k/plugins/x.csi/csi.sock", "/d/k/plugins_registry"],
  ["nothing is told: a bind mount", `/mnt/disk/long${DEFAULT}`, undefined, DEFAULT],
  ["nothing is told: /var is a file system of its own", "/lib/kubelet/plugins_registry", undefined, DEFAULT],
  ["nothing is told: a distribution's root ends as the default one", MICROK8S, undefined, MICROK8S],
  ["nothing is told and nothing known", "/d/k/plugins_registry", undefined, "/d/k/plugins_registry"],
  ["the driver's socket is elsewhere", "/d/k/plugins_registry", "/run/x.sock", "/d/k/plugins_registry"],
])("%s", (_title, path, told, expected) => {
  expect(kubeletDirectoryOf({ path }, told)).toBe(expected);
});
