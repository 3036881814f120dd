import { dirname, join } from "node:path";
import { nodeTest, registered } from "./support/node";
import { outsideContainer } from "./support/surroundings";

nodeTest("the flags of a drop-in invocation bring no warning, nor do those without effect", async (node) => {
  await node.driver();
  const kubelet = await node.kubelet();
  const registrar = node.registrar(
    ...["--v=5", "--http-endpoint=:0", "--timeout=10s", "--logging-format=text", "--automaxprocs"],
    ...["--log-flush-frequency=1s", "--log-text-info-buffer-size=1Ki", "--log-json-info-buffer-size=2M"],
  );
  await registered(kubelet);
  await registrar.reached("registered");
  expect(registrar.lines().filter(({ severity }) => severity !== "I")).toEqual([]);
});

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
