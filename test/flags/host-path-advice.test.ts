import { mkdirSync, writeFileSync } from "node:fs";
import { adviceOnHostPaths } from "../../src/flags/flag-warnings";
import { leaveDeadSocket } from "../support/foreign-socket";
import { createTempFolder } from "../support/temp-folder";

const HOST_FOLDER = "/var/lib/kubelet/plugins/x.csi";

test.each<readonly [csi: string, forKubelet: string, path: string | undefined]>([
  ["csi.sock", "/csi/csi.sock", "csi.sock"],
  ["dead.sock", "/csi/dead.sock", "dead.sock"],
  ["*/s", "/x/*/s", "*/s"],
  // Where no socket can be nothing is said of kubelet's path, and no advice repeats a pattern that is refused.
  [".", "/csi/csi.sock", undefined],
  ["file", "/csi/csi.sock", undefined],
  ["no/csi.sock", "/csi/csi.sock", undefined],
  ["**/s", "/x/**/s", undefined],
  ["*/*/s", "/x/*/s", undefined],
])("%s in the driver's folder, and %s for kubelet: write %s", async (csi, kubeletRegistrationPath, path) => {
  await using folder = await createTempFolder();
  mkdirSync(folder.at("csi"));
  writeFileSync(folder.at("csi", "file"), "");
  await leaveDeadSocket(folder.at("csi", "dead.sock"));
  const fixes = path === undefined ? [] : [`write --kubelet-registration-path=${HOST_FOLDER}/${path}`];
  const mounts = [
    { device: "0:50", root: "/", mountPoint: "/", fileSystem: "overlay" },
    { device: "8:1", root: HOST_FOLDER, mountPoint: folder.at("csi"), fileSystem: "ext4" },
  ];
  const csiAddress = folder.at("csi", csi);
  const every = { csiAddress: [csiAddress], kubeletRegistrationPath: [kubeletRegistrationPath] };
  const paths = { kubeletRegistrationPath, pluginRegistrationPath: folder.at("registration") };
  const advices = await adviceOnHostPaths({ csiAddress, every }, paths, mounts);
  expect(advices.map(({ fix }) => fix)).toEqual(fixes);
});
