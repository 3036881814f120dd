import { allTests } from "../support/each-test";
import { createConsumer } from "./support/consumer";

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

test("a module that is not exported cannot be loaded", async () => {
  const { code, stderr } = await consumer.node(["-e", 'require("registrar/dist/registrar/state.js")']);
  expect([code, stderr]).toEqual([1, expect.stringContaining("ERR_PACKAGE_PATH_NOT_EXPORTED")]);
});
