import { dirname, join, relative } from "node:path";
import { nodeTest, registered } from "./support/node";
import { outsideContainer } from "./support/surroundings";

nodeTest("deprecated and removed flags are accepted, each with one warning", async (node) => {
  await node.driver();
  const kubelet = await node.kubelet();
  const flags = [
    ...["--connection-timeout=1m", "--health-port=0", "--mode=registration"],
    ...["--logtostderr", "--alsologtostderr=false", "--stderrthreshold=2", "--log_dir=/x", "--log_file=/x"],
    ...["--log_file_max_size=1800", "--log_backtrace_at=:0", "--skip_headers", "--skip_log_headers"],
    ...["--add_dir_header", "--one_output", "--kubeconfig=/x"],
  ];
  const registrar = node.registrar(...flags);
  await registered(kubelet);
  for (const flag of flags.map((text) => text.split("=", 1)[0] ?? "")) {
    const telling = registrar.lines().filter(({ text }) => new RegExp(`${flag}\\b`).test(text));
    expect([flag, telling.length]).toEqual([flag, 1]);
  }
});

nodeTest("flags without effect are accepted in silence", async (node) => {
  await node.driver();
  const kubelet = await node.kubelet();
  const registrar = node.registrar(
    ...["--automaxprocs", "--log-flush-frequency=1s", "--log-text-info-buffer-size=1Ki"],
    ...["--log-json-info-buffer-size", "2M", "--timeout=1m30s", "--health-port=0"],
  );
  await registered(kubelet);
  expect(registrar.lines().filter(({ text }) => /automaxprocs|flush|buffer/.test(text))).toEqual([]);
});

nodeTest("the flags of a drop-in invocation bring no warning", async (node) => {
  await node.driver();
  const kubelet = await node.kubelet();
  const registrar = node.registrar("--v=5", "--http-endpoint=:0", "--timeout=10s", "--logging-format=text");
  await registered(kubelet);
  await registrar.reached("registered");
  expect(registrar.lines().filter(({ severity }) => severity !== "I")).toEqual([]);
});

nodeTest("words behind the flags are ignored with a warning, and the flags behind them too", async (node) => {
  await node.driver();
  const kubelet = await node.kubelet();
  const registrar = node.registrar("word", "--http-endpoint=localhost:0");
  await registered(kubelet);
  expect(registrar.lines("Skipping HTTP server")).toHaveLength(1);
  expect(registrar.lines().find(({ severity }) => severity === "W")?.fields).toEqual({
    words: "word --http-endpoint=localhost:0",
  });
});

nodeTest("a CSI address with one slash too few is warned of, once, and means what it meant", async (node) => {
  const csiAddress = `unix://${relative(process.cwd(), node.csiAddress)}`;
  await node.driver();
  const registrar = node.registrar(`--csi-address=${csiAddress}`);
  await registrar.reached("listening");
  const told = registrar.lines().filter(({ message }) => message.startsWith("CSI address is relative"));
  expect(told.map(({ severity, fields }) => [severity, fields])).toEqual([
    ["W", { csiAddress, path: node.csiAddress }],
  ]);
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

nodeTest("a kubelet registration path that can hardly work is warned of, not refused", async (node) => {
  await node.driver();
  const registrar = node.registrar(
    "--kubelet-registration-path=/var/lib/kubelet/plugins_registry/x/csi.sock",
  );
  const { fields } = await registrar.line("Kubelet will hardly reach the driver");
  expect(fields.problem).toContain("plugins_registry");
  await registrar.reached("listening");
});
