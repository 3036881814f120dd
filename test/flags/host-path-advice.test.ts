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
  const fixesFor = async (csiAddress: string) => {
    const advices = await adviceOnHostPaths(
      { csiAddress, every: { csiAddress: [], kubeletRegistrationPath: [] } },
      { kubeletRegistrationPath: "/csi/csi.sock", pluginRegistrationPath: folder.at("registration") },
      mounts,
    );
    return advices.map(({ fix }) => fix);
  };
  return { folder, fixesFor };
}

test("a socket that is there, and one that comes later into its folder", async () => {
  const { folder, fixesFor } = await makeContainer();
  await using _folder = folder;
  const fix = `--kubelet-registration-path=${HOST_FOLDER}/csi.sock`;
  expect(await fixesFor(folder.at("csi", "csi.sock"))).toEqual([fix]);
  await leaveDeadSocket(folder.at("csi", "csi.sock"));
  expect(await fixesFor(folder.at("csi", "csi.sock"))).toEqual([fix]);
});

test("an address where no socket can be says nothing about kubelet's path", async () => {
  const { folder, fixesFor } = await makeContainer();
  await using _folder = folder;
  writeFileSync(folder.at("csi", "file"), "");
  for (const name of [folder.at("csi"), folder.at("csi", "file"), folder.at("csi", "no", "csi.sock")])
    expect(await fixesFor(name)).toEqual([]);
});
