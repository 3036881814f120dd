import { mkdirSync, writeFileSync } from "node:fs";
import { adviceOnHostPaths } from "../../src/flags/flag-warnings";
import { leaveDeadSocket } from "../support/foreign-socket";
import { createTempFolder } from "../support/temp-folder";

const HOST_FOLDER = "/var/lib/kubelet/plugins/x.csi";

/** A container with the driver's folder mounted, and kubelet told the container's own path. */
async function makeContainer() {
  const folder = await createTempFolder();
  mkdirSync(folder.at("csi"));
  const mounts = [
    { device: "0:50", root: "/", mountPoint: "/", fileSystem: "overlay" },
    { device: "8:1", root: HOST_FOLDER, mountPoint: folder.at("csi"), fileSystem: "ext4" },
  ];
  const fixesFor = async (csiAddress: string, kubeletRegistrationPath: string) => {
    const every = { csiAddress: [csiAddress], kubeletRegistrationPath: [kubeletRegistrationPath] };
    const paths = { kubeletRegistrationPath, pluginRegistrationPath: folder.at("registration") };
    const advices = await adviceOnHostPaths({ csiAddress, every }, paths, mounts);
    return advices.map(({ fix }) => fix);
  };
  return { folder, fixesFor };
}

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
])("%s in the driver's folder, and %s for kubelet: write %s", async (csi, forKubelet, path) => {
  const { folder, fixesFor } = await makeContainer();
  await using _folder = folder;
  writeFileSync(folder.at("csi", "file"), "");
  await leaveDeadSocket(folder.at("csi", "dead.sock"));
  const fixes = path === undefined ? [] : [`write --kubelet-registration-path=${HOST_FOLDER}/${path}`];
  expect(await fixesFor(folder.at("csi", csi), forKubelet)).toEqual(fixes);
});
