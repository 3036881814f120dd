import { join } from "node:path";
import { build } from "esbuild";
import { allTests } from "../support/each-test";
import { createTempFolder } from "../support/temp-folder";
import { createConsumer } from "./support/consumer";
import { run } from "./support/run";

const consumer = allTests(createConsumer);

/** Runs a program of ES modules; test/projects has CommonJS and TypeScript. */
async function runProgram(name: string, program: string) {
  const imports = `import { startRegistrar, startRegistration } from "registrar";
    import { startCsiDriver, startKubelet } from "registrar/testing";`;
  await consumer.write(`${name}.mjs`, `${imports}\n${program}\n`);
  return consumer.node([`${name}.mjs`]);
}

test("ready, and a wait of the test kit that is closed, may be left alone: nothing is unhandled", async () => {
  const finished = await runProgram(
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
  expect(await runProgram("open", program)).toEqual({ code: 0, stdout: "registered\n", stderr: "" });
  const unheard = await runProgram("unheard", `${program}; kubelet.registered("y.csi", { timeoutMs: 50 });`);
  const stderr = expect.stringContaining('registered("y.csi") of the simulated kubelet did not happen');
  expect(unheard).toEqual({ code: 1, stdout: "registered\n", stderr });
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
