import { explainRefusal } from "../../../src/registrar/registration/explain-refusal";
import { CONTAINER, K, REGISTRATION, type Row, tableOf, USUAL } from "../../support/mount-rows";

const REFUSAL = "connection error: dial unix /csi/csi.sock: connect: no such file or directory";
const PATHS = {
  csiSocketPath: "/csi/csi.sock",
  kubeletRegistrationPath: "/csi/csi.sock",
  pluginRegistrationPath: "/registration",
};

test.each<[string, readonly Row[], string]>([
  [
    "a path of the container",
    USUAL,
    `on the host the driver's socket is ${K}/plugins/x/csi.sock: write --kubelet-registration-path=${K}/plugins/x/csi.sock`,
  ],
  [
    "nothing mounted",
    [CONTAINER, REGISTRATION],
    `nothing of the host is mounted at /csi: mount the hostPath ${K}/plugins/NAME there, in this container and in the driver's`,
  ],
  [
    "an emptyDir volume",
    [CONTAINER, ["8:1", `${K}/pods/1-2/volumes/kubernetes.io~empty-dir/s`, "/csi"], REGISTRATION],
    `the driver's socket is in an emptyDir volume, whose path on the host changes with each pod: make that volume a hostPath: ${K}/plugins/NAME, and name the socket in it`,
  ],
])("%s: what is wrong, and what to do", (_, rows, expected) => {
  expect(explainRefusal(REFUSAL, PATHS, {}, tableOf(rows))).toBe(expected);
});
