import { join } from "node:path";
import { build } from "esbuild";
import { createTempFolder } from "../support/temp-folder";
import { type Consumer, createConsumer } from "./support/consumer";
import { run } from "./support/run";

let consumer: Consumer;
beforeAll(async () => {
  consumer = await createConsumer();
});
afterAll(() => consumer[Symbol.asyncDispose]());

/** The two ways to load the package, each with the extension that Node knows it by. */
const LOADERS = {
  mjs: `import { startRegistrar, startRegistration } from "registrar";
    import { startCsiDriver, startKubelet } from "registrar/testing";`,
  cjs: `const { startRegistrar, startRegistration } = require("registrar");
    const { startCsiDriver, startKubelet } = require("registrar/testing");`,
};
type Extension = keyof typeof LOADERS;

async function runWith(extension: Extension, name: string, program: string) {
  const file = `${name}.${extension}`;
  await consumer.write(file, `${LOADERS[extension]}\nconst main = async () => {\n${program}\n};\nmain();\n`);
  return consumer.node([file]);
}

test.each<Extension>(["mjs", "cjs"])(
  "a project of .%s files registers a driver, and ends by itself",
  async (extension) => {
    const finished = await runWith(
      extension,
      "registers",
      `const pluginRegistrationPath = "${extension}-registry";
     const kubelet = await startKubelet({ pluginRegistrationPath, reconcilePeriodMs: 20 });
     const endpoint = process.cwd() + "/${extension}.sock";
     const driver = await startCsiDriver({ csiAddress: endpoint, name: "x.csi", nodeId: "n1" });
     const registration = await startRegistration({ name: "x.csi", endpoint, pluginRegistrationPath });
     await registration.ready;
     await kubelet.registered("x.csi");
     console.log(JSON.stringify(kubelet.csiNode().spec.drivers));
     await registration.close();
     await kubelet.deregistered("x.csi");
     await driver.close();
     await kubelet.close();`,
    );
    const stdout = '[{"name":"x.csi","nodeID":"n1","topologyKeys":[]}]\n';
    expect(finished).toEqual({ code: 0, stdout, stderr: "" });
  },
);

test("ready, and a wait of the test kit that is closed, may be left alone: nothing is unhandled", async () => {
  const finished = await runWith(
    "mjs",
    "left-alone",
    `const paths = { csiAddress: "/none.sock", endpoint: "/none.sock" };
     const late = await startRegistrar({ ...paths, pluginRegistrationPath: ".", driverTimeoutMs: 1 });
     const { closed: ended } = late;
     const options = { name: "x.csi", endpoint: "/none.sock", pluginRegistrationPath: "." };
     const closed = await startRegistration(options);
     await closed.close();
     console.log((await ended).error.code, (await closed.closed).kind);
     await startRegistration({ ...options, pluginRegistrationPath: "./none" }).catch(({ code }) => console.log(code));
     const kubelet = await startKubelet({ pluginRegistrationPath: "silent", waitTimeoutMs: 1_000 });
     kubelet.registered("x.csi");
     kubelet.refused("x.csi");
     await kubelet.events.when("socket-seen", { timeoutMs: 1 }).catch(({ code }) => console.log(code));
     kubelet.events.when("registered", { timeoutMs: 60000 });
     await kubelet.close();`,
  );
  const stdout = "DRIVER_TIMEOUT stopped\nSOCKET_UNUSABLE\nTIMEOUT\n";
  expect(finished).toEqual({ code: 0, stdout, stderr: "" });
});

test("a wait that times out is told though no caller awaits it; a kit that was not closed ends with its test", async () => {
  const program = `const kubelet = await startKubelet({ pluginRegistrationPath: "open", reconcilePeriodMs: 20 });
     const endpoint = process.cwd() + "/open.sock";
     await startCsiDriver({ csiAddress: endpoint, name: "x.csi" });
     const registration = await startRegistration({ name: "x.csi", endpoint, pluginRegistrationPath: "open" });
     await kubelet.registered("x.csi");
     await registration.close();
     console.log("registered");`;
  expect(await runWith("mjs", "open", program)).toEqual({ code: 0, stdout: "registered\n", stderr: "" });
  const told = await runWith("mjs", "told", `${program}; kubelet.registered("y.csi", { timeoutMs: 50 });`);
  const stderr = expect.stringContaining('registered("y.csi") of the simulated kubelet did not happen');
  expect(told).toEqual({ code: 1, stdout: "registered\n", stderr });
});

test("an ES module bundled of it needs no node_modules; test/projects has one in CommonJS", async () => {
  await consumer.write(
    "bundled.mjs",
    `import { startRegistration } from "registrar";
     import { startKubelet } from "registrar/testing";
     const main = async () => {
       const pluginRegistrationPath = process.cwd();
       const kubelet = await startKubelet({ pluginRegistrationPath, reconcilePeriodMs: 20 });
       const registration = await startRegistration({ name: "x.csi", endpoint: "/none.sock", pluginRegistrationPath });
       const { reason } = await kubelet.events.when("refused", { timeoutMs: 60000 });
       console.log(reason.split(":")[0]);
       await registration.close();
       await kubelet.close();
     };
     main();`,
  );
  await using folder = await createTempFolder();
  const js = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';
  await build({
    ...{ entryPoints: [join(consumer.folder, "bundled.mjs")], outdir: folder.path, bundle: true },
    ...{ format: "esm", outExtension: { ".js": ".mjs" }, banner: { js } },
    ...{ platform: "node", target: "node20", logLevel: "silent" },
  });
  const finished = await run(process.execPath, [folder.at("bundled.mjs")], { cwd: folder.path });
  const stdout = "RegisterPlugin error -- plugin registration failed with err\n";
  expect(finished).toEqual({ code: 0, stdout, stderr: "" });
});

test("a module that is not exported cannot be loaded", async () => {
  const { code, stderr } = await consumer.node(["-e", 'require("registrar/dist/registrar/state.js")']);
  expect([code, stderr]).toEqual([1, expect.stringContaining("ERR_PACKAGE_PATH_NOT_EXPORTED")]);
});
