import { dirname, join } from "node:path";
import { nodeTest, registered } from "./support/node";
import { outsideContainer } from "./support/surroundings";

nodeTest("on a node, KUBELET_ROOT_DIR says where kubelet's directory is", async (node) => {
  const root = dirname(node.pluginDir);
  const pluginDir = join(root, "plugins_registry");
  await node.driver();
  const kubelet = await node.kubelet({ pluginRegistrationPath: pluginDir });
  const registrar = node.cli(
    [`--csi-address=${node.csiAddress}`],
    { KUBELET_ROOT_DIR: root },
    outsideContainer(),
  );
  expect(await registered(kubelet)).toMatchObject({ endpoint: node.csiAddress });
  expect((await registrar.line("Not in a container, assuming the paths of this node")).fields).toEqual({
    flag: "--plugin-registration-path",
    value: pluginDir,
  });
});
