import { allTests } from "../support/each-test";
import { createConsumer } from "./support/consumer";

const consumer = allTests(createConsumer);

/** Runs a program of ES modules, one of CommonJS; test/projects has bundlers and test runners. */
async function runProgram(name: string, program: string) {
  const imports = `import { startRegistrar, startRegistration } from "registrar";
    import { startCsiDriver, startKubelet } from "registrar/testing";`;
  await consumer.write(`${name}.mjs`, `${imports}\n${program}\n`);
  return consumer.node([`${name}.mjs`]);
}

test("`ready` and waits of a closed kit that no caller awaits are not unhandled rejections", async () => {
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

test("a wait that times out is an unhandled rejection, and an open kit does not keep the process", async () => {
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

test("the library loads no protobufjs, and serves a driver where code from strings is forbidden", async () => {
  await consumer.write(
    "no-eval.cjs",
    `const { serveCsiDriver } = require("registrar");
     const text = (number, value) => Buffer.concat([Buffer.from([number * 8 + 2, value.length]), Buffer.from(value)]);
     const method = (path, encode) => ({ path, requestStream: false, responseStream: false,
       requestSerialize: () => Buffer.alloc(0), requestDeserialize: () => ({}), responseSerialize: encode,
       responseDeserialize: (bytes) => bytes });
     const service = { GetPluginInfo: method("/csi.v1.Identity/GetPluginInfo", ({ name }) => text(1, name)) };
     const addServices = (server) => server.addService(service, { GetPluginInfo: () => ({ name: "x.csi" }) });
     require("node:fs").mkdirSync("no-eval");
     serveCsiDriver({ csiAddress: "no-eval.sock", endpoint: "/x.sock", pluginRegistrationPath: "no-eval", addServices })
       .then(async (driver) => {
         const loaded = Object.keys(require.cache).filter((file) => /protobufjs|proto-loader|\\/long\\//.test(file));
         console.log(driver.name, await driver.selfCheck(), loaded);
         await driver.close();
       });`,
  );
  const finished = await consumer.node(["--disallow-code-generation-from-strings", "no-eval.cjs"]);
  expect(finished).toEqual({ code: 0, stdout: "x.csi { kind: 'ok' } []\n", stderr: "" });
});

test("a module that is not exported cannot be loaded", async () => {
  const { code, stderr } = await consumer.node(["-e", 'require("registrar/dist/registrar/state.js")']);
  expect([code, stderr]).toEqual([1, expect.stringContaining("ERR_PACKAGE_PATH_NOT_EXPORTED")]);
});
