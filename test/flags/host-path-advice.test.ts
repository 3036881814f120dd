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
  const fixesFor = async (csiAddress: string, kubeletRegistrationPath = "/csi/csi.sock") => {
    const every = { csiAddress: [csiAddress], kubeletRegistrationPath: [kubeletRegistrationPath] };
    const paths = { kubeletRegistrationPath, pluginRegistrationPath: folder.at("registration") };
    const advices = await adviceOnHostPaths({ csiAddress, every }, paths, mounts);
    return advices.map(({ fix }) => fix);
  };
  return { folder, fixesFor };
}

test("a socket that is there, and one that comes later into its folder", async () => {
  const { folder, fixesFor } = await makeContainer();
  await using _folder = folder;
  const fix = `write --kubelet-registration-path=${HOST_FOLDER}/csi.sock`;
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

test.each([
  ["*", "*", [`write --kubelet-registration-path=${HOST_FOLDER}/*/s`]],
  ["**", "**", []],
  ["*/*", "*", []],
])(
  "a pattern that is refused, %s for %s, gets no advice to take one like it",
  async (inside, host, fixes) => {
    const { folder, fixesFor } = await makeContainer();
    await using _folder = folder;
    expect(await fixesFor(folder.at("csi", inside, "s"), `/x/${host}/s`)).toEqual(fixes);
  },
);
